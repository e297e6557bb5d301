"""The stream of large messages: same result as the tree, in little memory, in bounded time."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from msgx_adapters.codec_lxml import LxmlCodec, codec, parsing
from msgx_core.errors import Malformed
from msgx_core.model.message import DecodedMessage, ReferencePackage, SchedulePackage
from msgx_core.testing.codec_messages import message, meta, schedule
from msgx_core.testing.strategies import XML_TEXT, nodes, raw_records
from msgx_core.testing.wire import node_xml

GATE = (
    "<GTDT GTNO='{0}'><GATE>G{0}</GATE><PGOT>15DEC031805</PGOT><PGCT>15DEC031925</PGCT><GTYP>D</GTYP></GTDT>"
)
SCALARS = "ALCD FLNO MVIN SODT FLTY FLIN ACFT RENO TRML STND ESTT ACTT BOTM LACL PEDT MAXP PAXC".split()


def large_schedule(records: int, filler: int = 0) -> str:
    """About 2.5 kB a flight with `filler` 600."""
    scalars = "\n".join(f"<{tag}>value of it</{tag}>" for tag in SCALARS)
    gates = "\n".join(GATE.format(n) for n in range(1, 16))
    remark = f"<REMC>{'备' * (filler // 3)}</REMC>"
    return schedule(*(f"<FLID>{n}</FLID>\n{scalars}\n{gates}{remark}" for n in range(1, records + 1)))


def outcome(raw: str) -> DecodedMessage | str:
    try:
        return LxmlCodec().decode(raw)
    except Malformed as error:
        return error.reason


@st.composite
def messages(draw: st.DrawFn) -> str:
    if draw(st.booleans()):
        raw = schedule(
            *(xml for xml, _ in draw(st.lists(raw_records(), max_size=4))), meta_last=draw(st.booleans())
        )
    else:
        body = "".join(map(node_xml, draw(st.lists(nodes(texts=XML_TEXT), max_size=4))))
        raw = message(f"<RECS>1</RECS>{body}<X/>", "ARPT", "DNLD", meta_last=draw(st.booleans()))
    cut = draw(st.none() | st.integers(0, len(raw)))
    return raw if cut is None else raw[:cut] + draw(st.sampled_from(["", "&x;", "\x01", "</MSG>", raw]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=messages(), chunk=st.integers(1, 200))
def test_tree_and_stream_agree(monkeypatch: pytest.MonkeyPatch, raw: str, chunk: int) -> None:
    with monkeypatch.context() as patch:
        expected = outcome(raw)
        patch.setattr(codec, "STREAM_ABOVE_BYTES", 0)
        patch.setattr(parsing, "CHUNK_BYTES", chunk)
        assert outcome(raw) == expected


def test_an_undeclared_entity_does_not_start_another_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "STREAM_ABOVE_BYTES", 0)
    first = message("<FLOP>&nbsp;").removesuffix("</MSG>")
    monkeypatch.setattr(parsing, "CHUNK_BYTES", len(first))
    assert outcome(first + message("<FLOP><FLID>1</FLID></FLOP>")) == "not-well-formed"


def test_a_late_fault_comes_before_a_fault_of_meta() -> None:
    filler = "<X>" + "x" * 1_000_000 + "</X>"
    assert outcome(f"<MSG>{meta(TYPE='')}{filler}</MSG>") == "meta-missing:TYPE"
    assert outcome(f"<MSG>{meta(TYPE='')}{filler}</MSGX>") == "not-well-formed"
    assert outcome(f"<MSGX>{meta()}{filler}</MSGX>") == "wrong-root"
    assert outcome(f"<X><MSG>{meta()}{filler}</MSG></X>") == "wrong-root"


def test_a_second_package_is_added_to_the_first() -> None:
    raw = message("<SCHD><RECS>1</RECS><FLTR/></SCHD><SCHD><RECS>1</RECS><FLTR/></SCHD>", "SCHD", "DNLD")
    body = LxmlCodec().decode(raw).body
    assert isinstance(body, SchedulePackage)
    assert (body.recs, len(body.records)) == ("1", 2)


def test_reference_records_may_be_a_hundred_levels_deep() -> None:
    def record(levels: int) -> str:
        return message("<ARPT>" + "<A>" * levels + "</A>" * levels + "</ARPT>", "ARPT", "DNLD")

    assert isinstance(LxmlCodec().decode(record(98)).body, ReferencePackage)
    assert outcome(record(99)) == "not-well-formed"


def test_many_attributes() -> None:
    attributes = " ".join(f'A{n}="1"' for n in range(100_000))
    assert isinstance(outcome(message(f"<FLOP><GTDT {attributes}/></FLOP>")), DecodedMessage)
    assert outcome(message(f"<ARPT {attributes}/>", "ARPT", "DNLD")) == "not-well-formed"


def test_threads_may_share_a_codec() -> None:
    shared, raw = LxmlCodec(), [message(f"<FLOP><FLID>{n}</FLID></FLOP>") for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        bodies = [found.body for found in pool.map(shared.decode, raw * 5)]
    assert bodies == [LxmlCodec().decode(text).body for text in raw] * 5


PROBE = """
import sys
from pathlib import Path
from msgx_adapters.codec_lxml import LxmlCodec

def kib(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])

raw = Path(sys.argv[1]).read_bytes()
Path("/proc/self/clear_refs").write_text("5")
before = kib("VmRSS")
body = LxmlCodec().decode(raw).body
print((kib("VmHWM") - before) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads peak memory from /proc")
@pytest.mark.parametrize("type_", ["SCHD", "SCHS"])
def test_ten_megabytes_in_less_than_a_hundred(tmp_path: Path, type_: str) -> None:
    """R-460: the records are kept, the tree never exists as a whole."""
    raw = large_schedule(4000, 600).replace("<TYPE>SCHD", f"<TYPE>{type_}").encode()
    assert 9_000_000 < len(raw) < 10 * 1024 * 1024
    file = tmp_path / "big.xml"
    file.write_bytes(raw)
    paths = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(file)], check=True, capture_output=True, env=paths, text=True
    )
    assert int(done.stdout) < (100 if type_ == "SCHD" else 40)


KEPT = """
import gc
from pathlib import Path
from msgx_adapters.codec_lxml import LxmlCodec

def kib():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])

gc.disable()
meta = "<SNDR>A</SNDR><SEQN>1</SEQN><DTTM>20270314060000</DTTM><TYPE>FLOP</TYPE><STYP>GTDT</STYP>"
gates = '<GTDT GTNO="1"><GATE>1</GATE></GTDT>' * 100_000
codec, raw = LxmlCodec(), f"<MSG><META>{meta}</META><FLOP><FLID>1</FLID>{gates}</FLOP></MSG>".encode()
codec.decode(raw)
before = kib()
for _ in range(4):
    codec.decode(raw)
print((kib() - before) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
def test_a_tree_is_gone_when_its_message_is_read() -> None:
    """R-460: not only when Python's collector comes by, which nothing calls while messages are just read."""
    paths = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KEPT], check=True, capture_output=True, env=paths, text=True)
    assert int(done.stdout) < 40


@pytest.mark.deep
@pytest.mark.parametrize("records", [1, 4000])
def test_speed_against_the_floor(records: int) -> None:
    """At most twice the time of lxml alone, with room for a busy machine."""
    raw = large_schedule(records, 600).encode()
    shared = LxmlCodec()

    def floor() -> None:
        for _, element in etree.iterparse(BytesIO(raw), events=("end",), tag="FLTR"):
            assert {child.tag: child.text for child in element}
            element.clear()

    def best(work: object) -> float:
        assert callable(work)
        times = []
        for _ in range(7):
            start = time.perf_counter()
            for _ in range(max(400 // records, 1)):
                work()
            times.append(time.perf_counter() - start)
        return min(times)

    assert best(lambda: shared.decode(raw)) < 2.5 * best(floor)
