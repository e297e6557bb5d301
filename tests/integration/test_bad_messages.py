"""Bad input ends DEAD with code, reason and place; neighbours unharmed, row marked, text still there."""

from __future__ import annotations

import pytest

from embedded import closing_system
from msgx_core.ports.operations import Audit
from wire import flop, fltr, gate, message, schedule

GOOD = [schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("B1"))]
BOMB = b'<?xml version="1.0"?><!DOCTYPE M [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><MSG>&b;</MSG>'

CASES = [
    pytest.param(b"<MSG><META>", "not-well-formed", True, id="truncated"),
    pytest.param(b"\x00\x01\x02garbage", "control-character", True, id="binary"),
    pytest.param(b"no xml at all", "not-well-formed", True, id="corrupt"),
    pytest.param(BOMB, "doctype-not-allowed", True, id="entity-bomb"),
    pytest.param("<MSG>首</MSG>".encode("gbk"), "bad-encoding", True, id="wrongly-encoded"),
    pytest.param(b"<GSM/>", "wrong-root", True, id="other-root"),
    pytest.param(b"", "raw-missing", True, id="empty"),
    pytest.param(b" \r\n\t ", "raw-missing", True, id="blank"),
    pytest.param(b"<MSG/>", "meta-missing:META", True, id="no-meta"),
    pytest.param(message("FLOP", "GTDT", "", seqn=999_001), "payload-missing:FLOP", False, id="no-payload"),
    pytest.param(flop(1, "GTDT", "", seqn=999_002), "payload-missing:GTDT", True, id="no-tag"),
    pytest.param(
        message("FLOP", "GTDT", f"<FLOP><FLID>x</FLID>{gate('B')}</FLOP>", seqn=999_003),
        "flid-invalid:x",
        True,
        id="bad-flid",
    ),
]


@pytest.mark.parametrize(("raw", "reason", "placed"), CASES)
def test_a_bad_message_harms_only_itself(raw: bytes, reason: str, placed: bool) -> None:
    """DEAD(MALFORMED) at once, with a place where there is one; both neighbours succeed, all rows are marked
    and the text can still be read (R-064, R-066, R-124, D-25, D-26)."""
    with closing_system(None) as system:
        ids = system.send([GOOD[0], raw, GOOD[1]])
        system.drain()
        assert [system.fates()[i][0] for i in ids] == ["SUCCEEDED", "DEAD", "SUCCEEDED"]
        assert system.fates()[ids[1]] == ("DEAD", "MALFORMED", reason)
        row = system.store.message(ids[1])
        assert row is not None
        assert ("line" in row.get("DETAIL", "")) is placed
        assert system.inbox.scan(0, 10) == []
        assert system.inbox.fetch(ids[1]) == raw
        assert row["ATTEMPTS"] == 0


def test_the_size_limit_is_exact() -> None:
    """10 MiB is taken, one byte more is `too-large:<bytes>` (R-460, H-03)."""
    limit = 10 * 1024 * 1024
    with closing_system(None) as system:
        start, end = GOOD[0].split(b"</MSG>")
        exact = start + b" " * (limit - len(GOOD[0])) + b"</MSG>" + end
        larger = GOOD[1].replace(b"</MSG>", b" " * (limit + 1 - len(GOOD[1])) + b"</MSG>")
        ids = system.send([exact, larger])
        system.drain()
        assert [system.fates()[i] for i in ids] == [
            ("SUCCEEDED", None, None),
            ("DEAD", "MALFORMED", f"too-large:{limit + 1}"),
        ]


def test_chinese_encodings_are_read() -> None:
    """gb2312 means GB18030 (D-44)."""
    text = '<?xml version="1.0" encoding="gb2312"?>' + GOOD[0].decode().split("?>")[1]
    text = text.replace("</FLTR>", "<REMC>首航㐀</REMC></FLTR>")
    with closing_system(None) as system:
        system.send([text.encode("gb18030")])
        system.drain()
        assert system.document(1)["REMC"] == "首航㐀"


def test_a_bad_optional_value_costs_the_airport_no_schedule() -> None:
    """Taken as absent, one alert per message, the place in DETAIL (D-14)."""
    with closing_system(None) as system:
        ids = system.send([schedule("DNLD", [fltr(1), fltr(2, ESTT="99XXX9999", MAXP="many", STND="7")])])
        system.drain()
        assert system.fates()[ids[0]][0] == "SUCCEEDED"
        flight = system.document(2)
        assert ("ESTT" in flight, "MAXP" in flight, flight["STND"]) == (False, False, "7")
        row = system.store.message(ids[0])
        assert row is not None
        assert "flight 2, tag ESTT" in row["DETAIL"]
        assert [a["CODE"] for a in system.store.alerts()] == ["BAD_VALUE"]


def test_other_content_under_a_taken_identity_raises_an_alert() -> None:
    """Bodies never decide; a person may let the message in after all (R-043, D-24)."""
    with closing_system(None) as system:
        system.send([GOOD[0]])
        ids = system.send([flop(1, "GTDT", gate("B1"), seqn=888), flop(1, "GTDT", gate("B2"), seqn=888)])
        system.drain()
        assert system.fates()[ids[1]] == ("SKIPPED", None, f"duplicate-of:{ids[0]}")
        assert [a["CODE"] for a in system.store.alerts()] == ["DUPLICATE_DIFFERENT_CONTENT"]
        result = system.store.readmit(ids[1], Audit("test", "numbering restarted"), system.clock.now())
        assert result.refused is None
        system.drain()
        assert system.fates()[ids[1]][0] == "SUCCEEDED"
        assert system.document(1)["GTDT"][0]["GATE"] == "B2"
        row = system.store.message(ids[1])
        assert row is not None
        assert row["IDENTITY_KEY"] == f"AODB|FLOP|GTDT|888#{ids[1]}"
