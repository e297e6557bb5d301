"""Loading: precedence, origins, relative paths, and all problems together."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_app.settings import ConfigProblems, LoadedSettings, catalogue, describe, find_config, load_settings
from msgx_core.errors import ConfigError

CODE = {"msgx.airport.code": "PVG"}
CLAIM = "msgx.pipeline.claim-batch"


def written(folder: Path, text: str) -> Path:
    path = folder / "msgx.toml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(
    config: Path | None, env: dict[str, str] | None = None, over: dict[str, str] | None = None
) -> list[str]:
    with pytest.raises(ConfigProblems) as caught:
        load_settings(config, env or {}, CODE if over is None else over)
    assert isinstance(caught.value, ConfigError)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return list(caught.value.problems)


def loaded(folder: Path, text: str, **env: str) -> LoadedSettings:
    return load_settings(written(folder, text), env, CODE)


def test_default_file_environment_command_line(tmp_path: Path) -> None:
    config = written(tmp_path, "[msgx.pipeline]\nclaim-batch = 2\n")
    env = {"MSGX_PIPELINE_CLAIM_BATCH": "3", "PATH": "/bin"}
    steps = [
        (load_settings(None, {}, CODE), 200, "default"),
        (load_settings(config, {}, CODE), 2, f"file {config}"),
        (load_settings(config, env, CODE), 3, "environment MSGX_PIPELINE_CLAIM_BATCH"),
        (load_settings(config, env, {**CODE, CLAIM: "4"}), 4, "command line"),
    ]
    for found, value, origin in steps:
        assert (found.settings.pipeline.claim_batch, found.origins[CLAIM]) == (value, origin)
        assert list(found.origins) == list(catalogue())


@pytest.mark.parametrize("name", ["claim-batch", "claim_batch"])
def test_both_spellings_are_read(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path, f"[msgx.pipeline]\n{name} = 7").settings.pipeline.claim_batch == 7


def test_nested_groups_in_every_source(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        '[msgx.history]\nwindow.sodt = "off"\nwindow.cncl = false\n[msgx.kafka.topic]\nmsg = "M"',
        MSGX_HISTORY_WINDOW_NAAT="12h",
        MSGX_OUTBOUND_ROUTING_ID_SCHEDULE="X",
    ).settings
    assert (found.history.window.sodt, found.history.window.cncl) == (None, None)
    assert found.history.window.naat is not None
    assert found.history.window.naat.total_seconds() == 12 * 3600
    assert (found.kafka.topic.msg, found.outbound.routing_id.schedule) == ("M", "X")


def test_relative_paths_are_seen_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    found = loaded(tmp_path, "", MSGX_BUS_URL="file:../bus")
    assert found.base_dir == tmp_path
    assert found.settings.mailbox.url.path == tmp_path / "data/mailbox.db"
    assert found.settings.bus.url.path == tmp_path.parent / "bus"
    assert load_settings(None, {}, CODE).settings.store.url.path == Path("/data/store.db")


def test_defaults_that_follow_other_settings(tmp_path: Path) -> None:
    text = '[msgx.airport]\ntimezone = "Europe/Berlin"\n[msgx.schd]\nflush-limit = 9\n'
    found = loaded(tmp_path, text)
    assert found.settings.sis.timezone.key == "Europe/Berlin"
    assert found.settings.schd.records_per_message == 9
    assert found.settings.archive.url is not None
    assert found.settings.archive.url.path == tmp_path / "data/archive"
    assert found.origins["msgx.sis.timezone"] == "default, by msgx.airport.timezone"
    found = loaded(tmp_path, text, MSGX_SIS_TIMEZONE="UTC", MSGX_STORE_URL="postgresql://h/msgx")
    assert found.settings.sis.timezone.key == "UTC"
    assert found.settings.archive.url is None


def test_the_message_names_key_value_origin_and_what_is_legal(tmp_path: Path) -> None:
    assert problems(None, {"MSGX_PIPELINE_CLAIM_BATCH": "abc"}) == [
        'msgx.pipeline.claim-batch = "abc" (from environment MSGX_PIPELINE_CLAIM_BATCH):'
        " must be a whole number, 1 or more"
    ]


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        """
        extra = 1
        [msgx.pipeline]
        claim-bach = 3
        claim_batch = 0
        backoff = ["1s"]
        [msgx.airport]
        timezone = "Asia/Shangai"
        [msgx]
        sis = 3
        """,
    )
    env = {"MSGX_STORE_URLL": "x", "MSGX_LEASE_RENEW": "1 week", "MSGX_CONFIG": "x", "MSGX_TEST_PG": "x"}
    found = problems(config, env, {"msgx.http.bin": "1"})
    keys = [line.split()[0] for line in found]
    assert keys == [
        "extra",
        "msgx.pipeline.claim-bach",
        "msgx.sis",
        "MSGX_STORE_URLL",
        "msgx.http.bin",
        "msgx.airport.code",
        "msgx.airport.timezone",
        "msgx.pipeline.claim-batch",
        "msgx.lease.renew",
        "msgx.pipeline.backoff",
    ]
    text = "\n".join(found)
    for hint in ("mean msgx.pipeline.claim-batch?", "mean MSGX_STORE_URL?", "mean msgx.http.bind?"):
        assert hint in text
    assert "msgx.sis = 3" in text
    assert "write [msgx.sis]" in text
    assert "msgx.airport.code (not set): is required: an IATA" in text


def test_a_key_in_two_spellings_is_a_problem(tmp_path: Path) -> None:
    (found,) = problems(written(tmp_path, "[msgx.pipeline]\nclaim-batch = 1\nclaim_batch = 2"))
    assert found.endswith("is given twice")


def test_an_empty_group_is_fine_and_an_empty_unknown_one_is_not(tmp_path: Path) -> None:
    assert loaded(tmp_path, "[msgx.pipeline]\n[msgx.kafka.topic]").settings.airport.code == "PVG"
    (found,) = problems(written(tmp_path, "[msgx.pipe]"))
    assert found.startswith("msgx.pipe = {}")


def test_a_syntax_error_has_its_place_and_does_not_hide_the_environment(tmp_path: Path) -> None:
    config = written(tmp_path, '[msgx.airport]\ncode "PVG"\n')
    syntax, other = problems(config, {"MSGX_REF_ALLOW_EMPTY": "maybe"}, {})
    assert syntax.startswith(f"file {config}: is not legal TOML: ")
    assert "at line 2, column 6" in syntax
    assert other.startswith('msgx.ref.allow-empty = "maybe"')


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (found,) = problems(tmp_path / "none.toml")
    assert found == f"file {tmp_path / 'none.toml'}: does not exist; `msgx init` writes one"
    (found,) = problems(tmp_path)
    assert "cannot be read" in found
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'[msgx.airport]\ncode = "\xe9"')
    (found,) = problems(latin)
    assert "is not UTF-8 text: byte 23" in found


def test_no_secret_in_any_problem() -> None:
    env = {
        "MSGX_MAILBOX_URL": "mysql://u:hun/ter@2@h:x/d",
        "MSGX_HTTP_TOKENS": "hunter2",
        "MSGX_HTTP_TOKEN": "hunter2",
        "MSGX_STORE_URLS": "postgresql://u:hunter2@h/d",
        "MSGX_STORE_PASSWORD": "hunter2",
    }
    found = problems(None, env)
    assert len(found) == 5
    assert not any("hunter2" in line or "ter@2" in line for line in found)


def test_rows_mask_secrets_and_tell_origins(tmp_path: Path) -> None:
    digest = "0f" * 32
    env = {"MSGX_CACHE_URL": "redis://:hunter2@h:6379/0", "MSGX_HTTP_TOKENS": f"b:reader:{digest}"}
    rows = {row.key: row for row in describe(load_settings(None, env, CODE))}
    assert list(rows) == list(catalogue())
    assert rows["msgx.cache.url"].value_text == "redis://:***@h:6379/0"
    assert rows["msgx.http.tokens"].value_text == "b:reader:***"
    assert rows["msgx.cache.url"].origin == "environment MSGX_CACHE_URL"
    assert [key for key, row in rows.items() if row.secret] == ["msgx.cache.url", "msgx.http.tokens"]
    assert rows["msgx.history.url"].value_text == "none"


def test_repr_of_the_settings_shows_no_secret() -> None:
    env = {"MSGX_CACHE_URL": "redis://:hunter2@h:6379/0", "MSGX_HTTP_TOKENS": "b:reader:" + "0f" * 32}
    found = repr(load_settings(None, env, CODE))
    assert "hunter2" not in found
    assert "0f0f" not in found


def test_find_config(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    assert find_config(inner, {}) is None
    config = written(tmp_path, "")
    assert find_config(tmp_path, {}) == config
    assert find_config(inner, {}) is None
    assert find_config(tmp_path, {"MSGX_CONFIG": ""}) == config
    assert find_config(inner, {"MSGX_CONFIG": "other.toml"}) == inner / "other.toml"
    assert find_config(inner, {"MSGX_CONFIG": "/etc/msgx.toml"}) == Path("/etc/msgx.toml")


@given(st.dictionaries(st.sampled_from(sorted(catalogue())), st.text(max_size=20), max_size=5))
def test_nothing_but_config_problems_comes_out(over: dict[str, str]) -> None:
    env = {catalogue()[key].env: value for key, value in over.items()}
    outcomes = []
    for variables, options in ((env, CODE), ({}, {**CODE, **over})):
        try:
            outcomes.append(str(load_settings(None, variables, options).settings))
        except ConfigProblems as error:
            outcomes.append(", ".join(sorted(problem.key for problem in error.found)))
    if "msgx.airport.code" not in over:
        assert outcomes[0] == outcomes[1]
