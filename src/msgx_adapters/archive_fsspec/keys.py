"""Names of archived messages: `2027/03/14/00000012345.xml.gz`, and what they hold.

The day is that of the message's arrival in UTC. Text (`str`) and bytes have names of their own, so that what
comes back is what was put.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from datetime import UTC, date, datetime

from attrs import frozen

from msgx_core.errors import Rejected
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.codec import RawText

BYTES, TEXT = ".xml.gz", ".text.xml.gz"
_NAME = re.compile(r"(-?\d{11,})(\.text)?\.xml\.gz")
_FOLDER = re.compile(r"\d{4}/\d{2}/\d{2}")
_STEP = re.compile(r"step-(\d{8}T\d{12})\.json\.gz")
_LEVEL = 6


@frozen
class Name:
    """A file name that is one of ours."""

    name: str
    msg_id: int
    is_text: bool


def day_of(at: datetime) -> date:
    """The day under which a message is filed."""
    return at.astimezone(UTC).date()


def folder_of(day: date) -> str:
    """`2027/03/14`."""
    return f"{day:%Y/%m/%d}"


def name_of(msg_id: int, *, is_text: bool) -> str:
    """The file name of a message within its day."""
    return f"{msg_id:011d}{TEXT if is_text else BYTES}"


def parse_name(name: str) -> Name | None:
    """The reverse; None for what is not ours.

    >>> parse_name("00000012345.xml.gz")
    Name(name='00000012345.xml.gz', msg_id=12345, is_text=False)
    >>> parse_name(".00000012345.xml.gz.part") is None
    True
    """
    match = _NAME.fullmatch(name)
    return None if match is None else Name(name, int(match[1]), match[2] is not None)


def is_key(key: str) -> bool:
    """Whether a key may be that of a message.

    >>> is_key("2027/03/14/00000012345.xml.gz"), is_key("../00000012345.xml.gz"), is_key("")
    (True, False, False)
    """
    folder, _, name = key.rpartition("/")
    return _FOLDER.fullmatch(folder) is not None and parse_name(name) is not None


def step_name(at: datetime) -> str:
    """The file name of a step of the history sweep within its day."""
    return f"step-{at.astimezone(UTC):%Y%m%dT%H%M%S%f}.json.gz"


def is_step(name: str) -> bool:
    """Whether that is one.

    >>> is_step(step_name(datetime(2027, 3, 14, 6, tzinfo=UTC)))
    True
    """
    return step_time(name) is not None


def step_time(name: str) -> datetime | None:
    """The time in the name of a step; None for what is not ours."""
    match = _STEP.fullmatch(name)
    try:
        return None if match is None else datetime.strptime(f"{match[1]}+0000", "%Y%m%dT%H%M%S%f%z")
    except ValueError:
        return None


def pack_step(step: DepartureStep) -> bytes:
    """The object of a step."""
    value = {"at": step.at.astimezone(UTC).isoformat(), "floors": {str(f): v for f, v in step.floors.items()}}
    return gzip.compress(json.dumps(value).encode(), _LEVEL, mtime=0)


def unpack_step(at: datetime, packed: bytes) -> DepartureStep:
    """The reverse; a damaged one has the time `at` of its name, and no floors."""
    try:
        value = json.loads(gzip.decompress(packed))
        floors = {int(flid): int(version) for flid, version in value["floors"].items()}
        exact = datetime.fromisoformat(value["at"])
    except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, AttributeError):
        return DepartureStep(at, {})
    return DepartureStep(at if exact.tzinfo is None else exact, floors)


def pack(raw: RawText) -> bytes:
    """The object of a text: the same bytes each time."""
    data = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
    return gzip.compress(data, _LEVEL, mtime=0)


def unpack(key: str, packed: bytes) -> RawText:
    """The text of an object; `Rejected` when it is damaged."""
    name = parse_name(key.rpartition("/")[2])
    if not packed:
        raise Rejected("archive-damaged", f"{key}: nothing is in it")
    try:
        if not packed:  # a file that a power cut left; to gzip it is a text without characters
            raise EOFError("0 bytes")
        data = gzip.decompress(packed)
        return data.decode("utf-8", "surrogatepass") if name is not None and name.is_text else data
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Rejected("archive-damaged", f"{key}: {error}") from error
