"""Shapes that cost much for little; `python -m tests.fuzz.hostile BYTES` runs them (see `test_bounds`).

Prints one line of JSON for each: its name, its size, seconds of processor time, what came of it. The process
has a limit of memory and of processor time, so that what is not bounded ends it.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

from msgx_adapters.codec_lxml import LxmlCodec
from msgx_app.answers.verdicts import verdict
from msgx_app.settings import load_settings
from msgx_core.errors import MessageError

MIB = 1024 * 1024
MEMORY_BYTES = 1536 * MIB
CPU_S_PER_MIB = 60


def _message(type_: str, styp: str, body: str) -> bytes:
    meta = f"<SNDR>A</SNDR><SEQN>1</SEQN><DTTM>20270314060000</DTTM><TYPE>{type_}</TYPE><STYP>{styp}</STYP>"
    return f"<MSG><META>{meta}</META>{body}</MSG>".encode()


def _filled(type_: str, styp: str, head: str, part: str, tail: str = "") -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        return _message(type_, styp, head + part * ((size - 400) // len(part.encode())) + tail)

    return made


def _numbered(type_: str, styp: str, head: str, part: str, tail: str = "") -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        many = (size - 400) // (len(part) + 5)
        return _message(type_, styp, head + "".join(part.replace("#", str(n)) for n in range(1, many)) + tail)

    return made


_LINES = "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
_FLOP = "<FLOP><FLID>1</FLID>"
SHAPES: dict[str, Callable[[int], bytes]] = {
    "unknown tags": _filled("FLOP", "GTDT", _FLOP, "<a/>", "</FLOP>"),
    "names that differ": _numbered("FLOP", "GTDT", _FLOP, "<t#/>", "</FLOP>"),
    "one attribute": _filled("FLOP", "GTDT", "<FLOP x='", "y", "'/>"),
    "many attributes": _numbered("FLOP", "GTDT", "<FLOP ", "a#='1' ", "/>"),
    "one text": _filled("FLOP", "GTDT", _FLOP + "<GTDT><GATE>", "x", "</GATE></GTDT></FLOP>"),
    "depth": _filled("FLOP", "GTDT", "", "<a>"),
    "depth of a record": _filled("GLST", "ADD", "<RECS>1</RECS><GLST>", "<a>"),
    "comments": _filled("FLOP", "GTDT", _FLOP, "<!---->", "</FLOP>"),
    "instructions": _filled("FLOP", "GTDT", _FLOP, "<?a?>", "</FLOP>"),
    "references": _filled("FLOP", "GTDT", _FLOP + "<GTDT><GATE>", "&#65;", "</GATE></GTDT></FLOP>"),
    "records": _filled("SCHD", "DNLD", "<SCHD><RECS>1</RECS>", "<FLTR/>", "</SCHD>"),
    "flights": _numbered("SCHD", "DNLD", "<SCHD><RECS>9</RECS>", "<FLTR><FLID>#</FLID></FLTR>", "</SCHD>"),
    "gates": _filled("FLOP", "GTDT", _FLOP, '<GTDT GTNO="1"><GATE>1</GATE></GTDT>', "</FLOP>"),
    "no gates": _filled("FLOP", "GTDT", _FLOP, '<GTDT GTNO="0"/>', "</FLOP>"),
    "reference records": _filled("GLST", "DNLD", "<RECS>9</RECS>", "<GLST><GCOD>1</GCOD></GLST>"),
    "raw sections": _filled("SCHD", "ADFT", "<SCHD><FLTR><FLID>1</FLID>", "<SRVT/>", "</FLTR></SCHD>"),
    "entities": lambda size: f"<!DOCTYPE MSG [<!ENTITY a0 'a'>{_LINES}]><MSG>&a11;</MSG>".encode(),
    "doctype behind a comment": lambda size: b"<!--" + b"x" * (size - 100) + b"--><!DOCTYPE MSG><MSG/>",
    "blanks": lambda size: b" " * (size - 10) + b"<MSG/>",
    "brackets": lambda size: b"<" * size,
    "namespaces": _filled("FLOP", "GTDT", _FLOP, "<a xmlns='u'/>", "</FLOP>"),
    "utf-16": lambda size: (
        _filled("FLOP", "GTDT", _FLOP, "x", "</FLOP>")(size // 2).decode().encode("utf-16")
    ),
    "gb18030": lambda size: (
        b'<?xml version="1.0" encoding="gb2312"?><MSG>' + "延".encode("gb18030") * (size // 3) + b"</MSG>"
    ),
}


def main(size: int) -> None:
    """Decode and judge each shape at about that size."""
    codec, settings = LxmlCodec(), load_settings(None, {}, {"msgx.airport.code": "PVG"}).settings
    seconds = CPU_S_PER_MIB * max(1, size // MIB)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for name, make in SHAPES.items():
        raw = make(size)
        started = time.process_time()
        try:
            said = codec.decode(raw).kind.value
        except MessageError as error:
            said = error.reason
        decode_s = time.process_time() - started
        state = verdict(raw, settings)["STATE"]
        all_s = time.process_time() - started
        line = {
            "shape": name,
            "bytes": len(raw),
            "decode_s": decode_s,
            "s": all_s,
            "said": said,
            "state": state,
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
