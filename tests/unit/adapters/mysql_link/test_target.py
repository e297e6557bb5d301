"""URLs of a MySQL mailbox, and the names in its SQL."""

from pathlib import Path

import pytest

from msgx_adapters.mysql_link import Target, filled_list, quoted
from msgx_core.errors import ConfigError

BASE = "mysql://u:p@h/d"


def test_all_parts_are_percent_decoded() -> None:
    target = Target.of("mysql://air%40port:p%40ss%3A%2F%25w%2B@db.example:3307/mail%20box")
    assert target.name == "db.example:3307/mail box"
    assert target.arguments == {
        "user": "air@port",
        "password": "p@ss:/%w+",
        "host": "db.example",
        "port": 3307,
        "database": "mail box",
        "charset": "utf8mb4",
        "collation": "utf8mb4_general_ci",
    }


def test_what_is_left_out_has_a_default() -> None:
    arguments = Target.of("mysql://[::1]/d").arguments
    assert (arguments["host"], arguments["port"], arguments["user"], arguments["password"]) == (
        "::1",
        3306,
        "",
        "",
    )


def test_the_password_is_not_shown() -> None:
    assert "secret" not in repr(Target.of("mysql://u:secret@h/d"))


def test_options_reach_the_driver(tmp_path: Path) -> None:
    file = tmp_path / "a+b.pem"
    file.touch()
    arguments = Target.of(
        f"{BASE}?ssl_ca={file}&ssl_cert={file}&ssl_key={file}&ssl_verify_identity=yes"
        "&tls_versions=TLSv1.2,TLSv1.3&charset=utf8mb4&auth_plugin=mysql_native_password"
    ).arguments
    assert arguments["ssl_ca"] == arguments["ssl_cert"] == arguments["ssl_key"] == str(file)
    assert arguments["ssl_verify_identity"] is True
    assert arguments["tls_versions"] == ["TLSv1.2", "TLSv1.3"]
    assert arguments["auth_plugin"] == "mysql_native_password"


def test_a_ca_is_there_to_be_checked(tmp_path: Path) -> None:
    """The driver alone would load it and check nothing."""
    file = tmp_path / "ca.pem"
    file.touch()
    assert Target.of(f"{BASE}?ssl_ca={file}").arguments["ssl_verify_cert"] is True
    assert Target.of(f"{BASE}?ssl_verify_identity=true").arguments["ssl_verify_cert"] is True
    assert Target.of(f"{BASE}?ssl_ca={file}&ssl_verify_cert=off").arguments["ssl_verify_cert"] is False
    assert "ssl_verify_cert" not in Target.of(BASE).arguments


@pytest.mark.parametrize(
    ("url", "problems"),
    [
        ("mysql://u:p@h", ["not of the form"]),
        ("mysql://u:p@h/a/b", ["not of the form"]),
        ("mysql://u:p@h:x/d", ["no legal URL"]),
        ("postgresql://u:p@h/d", ["not of the form"]),
        (f"{BASE}?nope=1&use_pure=0", ["no option 'nope'", "no option 'use_pure'"]),
        (f"{BASE}?ssl_disabled=maybe", ["ssl_disabled is true or false"]),
        (f"{BASE}?ssl_ca=/nowhere/ca.pem", ["ssl_ca names no file: /nowhere/ca.pem"]),
        (f"{BASE}?charset=gbk", ["charset is utf8mb4"]),
        (f"{BASE}?tls_versions=TLSv1", ["tls_versions is a list of TLSv1.2, TLSv1.3"]),
        (f"{BASE}?charset=utf8mb4&charset=utf8mb4", ["charset is given twice"]),
        (f"{BASE}?ssl_cert={__file__}", ["ssl_cert and ssl_key go together"]),
        (f"{BASE}?ssl_disabled=on&ssl_ca={__file__}", ["ssl_disabled contradicts ssl_ca"]),
    ],
)
def test_what_is_wrong_is_named(url: str, problems: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        Target.of(url)
    assert len(caught.value.problems) == len(problems)
    for found, expected in zip(caught.value.problems, problems, strict=True):
        assert found.startswith("msgx.mailbox.url")
        assert expected in found


def test_names_are_quoted_part_by_part() -> None:
    assert quoted({"a": ("s.a", "GROUP"), "b": ("s.b", "db.A$")}) == {"a": "`GROUP`", "b": "`db`.`A$`"}


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        quoted(
            {"a": ("s.a", "T; DROP TABLE T"), "b": ("s.b", "a`b"), "c": ("s.c", "a..b"), "d": ("s.d", "ok")}
        )
    assert [problem.split(" = ")[0] for problem in caught.value.problems] == ["s.a", "s.b", "s.c"]


def test_a_list_is_filled_in() -> None:
    assert filled_list("x IN (/*list*/)", {1: "a", 2: "b"}) == "x IN (1, 2)"
