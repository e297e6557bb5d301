"""Exit codes, refusals and operator actions, from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

import wire
from msgx_app.cli.app import COMMANDS
from msgx_cli import Msgx, MsgxInside

ARGUMENTS = {
    "send": ["x"],
    "decode": ["x"],
    "ref": ["ARPT"],
    "replay": ["1"],
    "explain": ["1"],
    "recover": ["--republish"],
}
NEEDS_CONFIG = [name for name in COMMANDS if name not in ("init", "config", "cache", "decode")]


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_a_usage_error(name: str, tmp_path: Path) -> None:
    answer = MsgxInside(tmp_path)(name, "--no-such-option")
    assert answer.code == 2
    assert "--no-such-option" in answer.err
    assert answer.out == ""


@pytest.mark.parametrize("name", NEEDS_CONFIG)
def test_a_bad_configuration_is_exit_code_3(name: str, tmp_path: Path) -> None:
    (tmp_path / "msgx.toml").write_text('[msgx.airport]\ncode = "nowhere"\n[msgx.lease]\nrenew = "9s"\n')
    extra = ["--reason", "x"] if name in ("replay", "recover") else []
    answer = MsgxInside(tmp_path)(name, *ARGUMENTS.get(name, []), *extra)
    assert answer.code == 3
    assert "msgx.airport.code" in answer.err
    assert "msgx.lease.renew" in answer.err


def test_no_configuration_at_all_says_what_to_do(tmp_path: Path) -> None:
    answer = MsgxInside(tmp_path)("status")
    assert answer.code == 3
    assert "msgx init" in answer.err


def test_configuration_by_option_and_by_environment(tmp_path: Path) -> None:
    home = tmp_path / "home"
    elsewhere = MsgxInside(tmp_path)
    elsewhere.ok("init", home, "--airport", "PEK")
    assert elsewhere.ok("messages", "--config", home / "msgx.toml", "--json").json == []
    rows = elsewhere.ok("config", "show", "--json", MSGX_CONFIG="home/msgx.toml").json
    assert {row["KEY"]: row["VALUE"] for row in rows}["msgx.airport.code"] == "PEK"
    rows = elsewhere.ok(
        "config", "show", "--json", "--config", home / "msgx.toml", "--set", "msgx.pipeline.claim-batch=7"
    ).json
    batch = next(row for row in rows if row["KEY"] == "msgx.pipeline.claim-batch")
    assert (batch["VALUE"], batch["ORIGIN"]) == ("7", "command line")


def test_init_makes_what_the_others_need_and_overwrites_nothing(msgx: Msgx) -> None:
    assert (msgx.folder / "data" / "store.db").is_file()
    assert (msgx.folder / "data" / "mailbox.db").is_file()
    assert msgx("init").code == 1
    assert "PEK" not in (msgx.folder / "msgx.toml").read_text()
    forced = msgx.ok("init", "--airport", "pek", "--force", "--json").json
    assert forced["MADE"] == []
    assert 'code = "PEK"' in (msgx.folder / "msgx.toml").read_text()
    assert msgx("init", "--profile", "huge").code == 2
    assert msgx("init", "--force", "--airport", "12").code == 3


def test_an_init_that_fails_writes_nothing(tmp_path: Path) -> None:
    """product: a setting or an airport that is none, a store that cannot be made; then it goes on."""
    msgx = MsgxInside(tmp_path)
    assert msgx("init", "a/b", "--set", "x=1").code == 3
    assert msgx("init", "--airport", "12").code == 3
    assert msgx("init", "--set", "msgx.store.url=sqlite:////dev/null/store.db").code in (3, 4)
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "msgx.toml").exists()
    msgx.ok("init", "--airport", "KMG")
    assert msgx("init", "--force", "--set", "x=1").code == 3
    assert 'code = "KMG"' in (tmp_path / "msgx.toml").read_text()


def test_ids_have_an_end(msgx: Msgx) -> None:
    """product (exit codes): a number that no store can hold is a mistake on the command line."""
    huge = "99999999999999999999999"
    why = ("--reason", "a test")
    for words in (
        ("explain", huge),
        ("messages", "show", huge),
        ("messages", "--after", huge),
        ("messages", "--flid", huge),
        ("messages", "--limit", huge),
        ("messages", "readmit", huge, *why),
        ("flights", "--after", huge),
        ("alerts", "ack", huge, *why),
        ("outbox", "requeue", huge, *why),
        ("outbox", "discard", huge, *why),
        ("replay", huge, *why),
        ("replay", huge, "--dry-run"),
        ("writeback", "requeue", huge, *why),
        ("recover", "--versions-by", huge, *why),
        ("recover", "--take-in", f"{huge}..{huge}", *why),
    ):
        answer = msgx(*words)
        assert (answer.code, "SQLite" in answer.err) == (2, False), (words, answer)


def test_init_for_production_writes_the_file_only(tmp_path: Path) -> None:
    answer = MsgxInside(tmp_path).ok("init", "etc", "--profile", "production", "--airport", "KMG")
    assert [path.name for path in (tmp_path / "etc").iterdir()] == ["msgx.toml"]
    assert "config check" in answer.out


def test_init_writes_where_the_others_read(tmp_path: Path) -> None:
    MsgxInside(tmp_path).ok("init", MSGX_CONFIG="conf/here.toml")
    assert (tmp_path / "conf" / "here.toml").is_file()
    assert MsgxInside(tmp_path).ok("flights", "--json", MSGX_CONFIG="conf/here.toml").json == []


def test_an_empty_system_says_so(msgx: Msgx) -> None:
    for words, said in (
        (["messages"], "no messages"),
        (["flights"], "no flights"),
        (["snapshots"], "no schedules yet"),
        (["alerts"], "no open alerts"),
        (["outbox"], "no events"),
        (["ref", "ARPT"], "no records of ARPT"),
    ):
        assert msgx.ok(*words).err.strip() == said
        assert msgx.ok(*words, "--json").json == []
    assert "all are available" in msgx.ok("resources").err
    assert msgx.ok("status").out


@pytest.mark.parametrize(
    "words", [["messages", "show", 7], ["messages", "show", 7, "--raw"], ["flights", "show", 7]]
)
def test_what_is_not_there_is_exit_code_1(msgx: Msgx, words: list[str | int]) -> None:
    answer = msgx(*words)
    assert answer.code == 1
    assert "7" in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ["flights", "show", "x"],
        ["ref", "XXXX"],
        ["messages", "--state", "GONE"],
        ["messages", "--limit", "0"],
        ["messages", "--since", "soon"],
        ["messages", "--json", "show", "5"],
        ["flights", "--day", "monday"],
        ["resources", "--at", "later"],
        ["replay", "5"],
        ["replay"],
        ["alerts", "ack", "5"],
        ["alerts", "ack", "--reason", "x"],
        ["alerts", "ack", "5", "--reason", "  "],
        ["writeback", "resume", "--reason", "x"],
        ["writeback", "resume", "5", "--all", "--reason", "x"],
        ["outbox", "--dead", "--pending"],
        ["outbox", "requeue", "5"],
        ["status", "--set", "x"],
        ["simulate", "--flights", "0"],
        ["simulate", "--speed", "-1"],
        ["send"],
        ["send", "-", "-"],
        ["nonsense"],
    ],
    ids=" ".join,
)
def test_usage_errors(msgx: Msgx, words: list[str]) -> None:
    answer = msgx(*words)
    assert (answer.code, answer.out) == (2, "")


def test_a_mistyped_command_gets_a_hint(tmp_path: Path) -> None:
    assert "'messages'" in MsgxInside(tmp_path)("mesages").err


def test_send_from_files_and_standard_input(msgx: Msgx) -> None:
    (msgx.folder / "a.xml").write_bytes("<é/>".encode("latin-1"))
    (msgx.folder / "empty.xml").write_bytes(b"")
    sent = msgx.ok("send", "a.xml", "-", "empty.xml", "--json", stdin=b"<b/>").json
    assert sent == [
        {"FILE": "a.xml", "MSG_ID": 1},
        {"FILE": "-", "MSG_ID": 2},
        {"FILE": "empty.xml", "MSG_ID": 3},
    ]
    msgx.ok("drain")
    assert msgx.ok("messages", "show", 1, "--raw", "--json").json["RAW_BASE64"] == "POkvPg=="
    assert msgx.ok("messages", "show", 2, "--raw").out == "<b/>"
    reasons = [row["REASON"] for row in msgx.ok("messages", "--json").json]
    assert reasons == ["bad-encoding", "wrong-root", "raw-missing"]


def test_send_sends_nothing_when_one_file_cannot_be_read(msgx: Msgx) -> None:
    (msgx.folder / "a.xml").write_bytes(b"<a/>")
    answer = msgx("send", "a.xml", "missing.xml")
    assert answer.code == 2
    assert "missing.xml: No such file or directory; nothing was sent" in " ".join(answer.err.split())
    assert msgx.ok("status", "--json").json["MAILBOX"]["NOT_TAKEN_IN"] == 0


def test_a_shadow_instance_sends_nothing(msgx: Msgx) -> None:
    shadow = ["--set", "msgx.mailbox.write-enabled=false"]
    (msgx.folder / "a.xml").write_bytes(b"<a/>")
    for words in (["send", "a.xml"], ["simulate", "--flights", "5"]):
        answer = msgx(*words, *shadow)
        assert answer.code == 1
        assert "write-enabled" in answer.err


def test_decode_needs_no_configuration_and_locates_problems(tmp_path: Path) -> None:
    record = wire.fltr(7, ESTT="99XXX", STND="215")
    answer = MsgxInside(tmp_path).ok("decode", "-", "--json", stdin=wire.schedule("DNLD", [record], seqn=4))
    found = answer.json
    assert (found["KIND"], found["IDENTITY"], found["FLIDS"]) == ("SCHEDULE", "AODB|SCHD|DNLD|4", [7])
    assert found["STATE"] == "SUCCEEDED"
    [problem] = found["PROBLEMS"]
    assert (problem["REASON"], problem["TEXT"], problem["LINE"]) == ("bad-time:ESTT", "99XXX", 1)
    assert problem["EFFECT"] == "taken as absent"
    answer = MsgxInside(tmp_path)(
        "decode", "-", "--json", stdin=wire.schedule("RESP", [record, record], seqn=5)
    )
    assert answer.code == 1
    assert answer.json["REASON"] == "duplicate-flid:7"
    missing = MsgxInside(tmp_path)("decode", "missing.xml")
    assert (missing.code, "missing.xml: No such file" in missing.err) == (2, True)
    for blank in (b"", b"  "):
        answer = MsgxInside(tmp_path)("decode", "-", "--json", stdin=blank)
        assert (answer.code, answer.json["REASON"]) == (1, "raw-missing")
        assert answer.json["DETAIL"] == "line 1, column 1, text ''"


def test_the_first_example_works_as_it_stands(tmp_path: Path) -> None:
    """Of `msgx --help`: it names nothing that a user does not have."""
    msgx = MsgxInside(tmp_path)
    (line,) = [each for each in msgx.ok("--help").out.splitlines() if "&&" in each]
    for words in line.split("&&"):
        msgx.ok(*words.split()[1:])
    assert msgx.ok("flights", "--json").json
