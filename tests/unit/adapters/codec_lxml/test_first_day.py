"""The sample day through the codec: what each file is, and how it is refused."""

from pathlib import Path

import pytest

from msgx_adapters.codec_lxml import LxmlCodec
from msgx_core.errors import Malformed
from msgx_core.model.message import FlightRecord, MsgKind, ReferencePackage, SchedulePackage

FOLDER = Path(__file__).parents[3] / "data" / "first-day"
KINDS = {
    MsgKind.REFERENCE: ["01", "02", "03", "04", "05"],
    MsgKind.RESOURCE_STATUS: ["06"],
    MsgKind.SCHEDULE: ["07", "16", "17", "18", "26"],
    MsgKind.ADFT: ["13", "14"],
    MsgKind.FLOP: ["08", "09", "10", "11", "12", "21", "24", "25", "27", "28"],
    MsgKind.FDEL: ["19", "20"],
    MsgKind.UNSUPPORTED: ["15"],
}


def sample(number: str) -> bytes:
    (path,) = FOLDER.glob(f"{number}-*.xml")
    return path.read_bytes()


@pytest.mark.parametrize(("kind", "number"), [(k, n) for k, numbers in KINDS.items() for n in numbers])
def test_legal_samples(kind: MsgKind, number: str) -> None:
    raw = sample(number)
    found = LxmlCodec().decode(raw)
    assert found.kind is kind
    assert found == LxmlCodec().decode(raw.decode())
    assert (found.body is None) == (kind is MsgKind.UNSUPPORTED)
    assert found.meta.seqn == ("8" if number == "09" else str(int(number)))


@pytest.mark.parametrize(
    ("number", "reason", "line"), [("22", "not-well-formed", 2), ("23", "doctype-not-allowed", 2)]
)
def test_illegal_samples(number: str, reason: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        LxmlCodec().decode(sample(number))
    assert (caught.value.reason, caught.value.line) == (reason, line)


def test_the_schedule() -> None:
    body = LxmlCodec().decode(sample("07")).body
    assert isinstance(body, SchedulePackage)
    assert (body.recs, [record.flid for record in body.records]) == (
        "4",
        ["700101", "700102", "700103", "700104"],
    )
    first, second, *_, last = body.records
    assert [desk["CHKC"] for desk in first.elements["CKDT"]] == ["C11", "C12"]
    assert second.elements["ROUT"] == ({"RTNO": "1", "APCD": "KMG"},)
    assert last.values["REMC"] == "首航 welcome"


def test_a_change_to_no_desks() -> None:
    body = LxmlCodec().decode(sample("10")).body
    assert isinstance(body, FlightRecord)
    assert body.elements == {"CKDT": ({"CKNO": "0"},)}


def test_airports() -> None:
    body = LxmlCodec().decode(sample("01")).body
    assert isinstance(body, ReferencePackage)
    kunming, hong_kong = body.records
    assert [(child.attributes["CODE"], child.text) for child in kunming.children[-2:]] == [
        ("ABR1", "KM"),
        ("ABR2", "昆"),
    ]
    assert (hong_kong.value("BDIS"), hong_kong.value("ABBR")) == ("", None)
