"""Reference data: full lists and increments of the 13 categories, resource status and its window."""

from datetime import timedelta

import pytest
from attrs import evolve

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.message import Node, ReferencePackage
from msgx_core.model.reference import (
    PutRecord,
    RefChange,
    RefRecord,
    RemoveRecord,
    ReplaceCategory,
    ResourceStatus,
)
from msgx_core.model.sis import CATEGORIES, RSTA_TYPES
from msgx_core.rules.policy import Policy
from msgx_core.rules.reference import (
    is_available,
    plan_reference,
    plan_resource_status,
    resource_status,
    statuses,
)
from tests.unit.core.build import DAY, NOW, POLICY, at, meta, node, sodt

ALL = sorted(CATEGORIES)
INCREMENTS = ["ADD", "UPD", "DEL"]
SECOND = timedelta(seconds=1)


def plan(
    type_: str, styp: str, *records: Node, recs: str | None = "right", policy: Policy = POLICY
) -> tuple[RefChange, ...]:
    body = ReferencePackage(str(len(records)) if recs == "right" else recs, records)
    rule = plan_resource_status if type_ == "RSTA" else plan_reference
    return rule(meta(type_, styp), body, msg_id=5, now=NOW, policy=policy)


def entry(rtype: str, key: str) -> Node:
    return node(rtype, **{CATEGORIES[rtype].key: key, "CNMC": "北京", "NONE": ""})


def stored(rtype: str, key: str) -> RefRecord:
    return RefRecord(rtype, key, entry(rtype, key), 5, NOW)


@pytest.mark.parametrize("styp", ["DNLD", "RESP"])
@pytest.mark.parametrize("rtype", ALL)
def test_a_full_list_replaces_its_category(rtype: str, styp: str) -> None:
    """R-413, R-416, D-40: keyed by the category's own tag, whole records, in the order of the message."""
    assert plan(rtype, styp, entry(rtype, "B"), entry(rtype, "A")) == (
        ReplaceCategory(rtype, (stored(rtype, "B"), stored(rtype, "A"))),
    )


@pytest.mark.parametrize("styp", ["ADD", "UPD"])
@pytest.mark.parametrize("rtype", ALL)
def test_add_and_upd_both_put_the_whole_record(rtype: str, styp: str) -> None:
    """R-417, D-40: several in order, the same key twice is legal; an empty tag is kept (R-418)."""
    changes = plan(rtype, styp, entry(rtype, "A"), entry(rtype, "B"), entry(rtype, "A"))
    assert changes == tuple(PutRecord(stored(rtype, key)) for key in ("A", "B", "A"))


@pytest.mark.parametrize("rtype", ALL)
def test_del_needs_only_the_key(rtype: str) -> None:
    """R-418, D-40: whether the record exists is not asked."""
    assert plan(rtype, "DEL", node(rtype, **{CATEGORIES[rtype].key: "A"})) == (RemoveRecord(rtype, "A"),)


def test_desks_and_chutes_share_tags_and_nothing_else() -> None:
    """R-415: `CCOD` keys both `CLST` and `CHLT`; only the type tells them apart."""
    changes = [plan(rtype, "ADD", entry(rtype, "1"))[0] for rtype in ("CLST", "CHLT")]
    assert [c.record.rtype for c in changes if isinstance(c, PutRecord)] == ["CLST", "CHLT"]


@pytest.mark.parametrize("styp", ["DNLD", "RESP", *INCREMENTS])
@pytest.mark.parametrize(
    ("recs", "reason"),
    [(None, "recs-missing"), ("x", "recs-range:x"), ("1", "recs-mismatch:1!=2"), ("3", "recs-mismatch:3!=2")],
)
def test_any_wrong_count_is_protocol(styp: str, recs: str | None, reason: str) -> None:
    """D-40: smaller and larger, in full lists and increments: a truncated list must not delete."""
    with pytest.raises(Protocol) as caught:
        plan("GLST", styp, entry("GLST", "A"), entry("GLST", "B"), recs=recs)
    assert caught.value.reason == reason


def test_a_full_list_may_be_larger_than_a_schedule() -> None:
    """R-173 is about schedules: 10 000 registrations are legal."""
    change = plan("REGN", "DNLD", *(entry("REGN", str(n)) for n in range(10_000)))[0]
    assert isinstance(change, ReplaceCategory)
    assert len(change.records) == 10_000


@pytest.mark.parametrize("styp", ["DNLD", "RESP"])
def test_an_empty_full_list_is_refused_unless_allowed(styp: str) -> None:
    """D-40: `empty-full-list`, `msgx.ref.allow-empty`."""
    with pytest.raises(Protocol, match=r"^empty-full-list$"):
        plan("GLST", styp)
    assert plan("GLST", styp, policy=evolve(POLICY, ref_allow_empty=True)) == (ReplaceCategory("GLST", ()),)


@pytest.mark.parametrize("styp", INCREMENTS)
def test_an_increment_of_nothing_is_malformed(styp: str) -> None:
    """R-066: the payload of the kind is missing; allow-empty is about full lists."""
    with pytest.raises(Malformed, match=r"^payload-missing:GLST$"):
        plan("GLST", styp, policy=evolve(POLICY, ref_allow_empty=True))


def test_a_key_twice_in_a_full_list_is_refused() -> None:
    """D-40: `duplicate-key:<key>`, compared as text: `01` is not `1`."""
    with pytest.raises(Protocol, match=r"^duplicate-key:B07$") as caught:
        plan("GLST", "DNLD", entry("GLST", "B07"), entry("GLST", "B08"), entry("GLST", "B07"))
    assert caught.value.record == 2
    assert len(plan("GLST", "DNLD", entry("GLST", "01"), entry("GLST", "1"))) == 1


@pytest.mark.parametrize("styp", ["DNLD", *INCREMENTS])
@pytest.mark.parametrize("record", [node("GLST", CNMC="x"), node("GLST", GCOD="")])
def test_a_record_without_key_is_refused(styp: str, record: Node) -> None:
    """D-40: `key-missing:<tag>`, nothing of the message is written."""
    with pytest.raises(Protocol, match=r"^key-missing:GCOD$") as caught:
        plan("GLST", styp, entry("GLST", "A"), record)
    assert caught.value.record == 1


@pytest.mark.parametrize(
    ("tag", "length", "legal"),
    [("GCOD", 64, True), ("GCOD", 65, False), ("CNMC", 4000, True), ("CNMC", 4001, False)],
)
def test_long_keys_and_values(tag: str, length: int, legal: bool) -> None:
    """D-25: `value-too-long:<tag>`, at any depth of the record."""
    nested = Node("GLST", children=(Node("GCOD", "A"), Node("SUBC", children=(Node(tag, "中" * length),))))
    flat = node("GLST", **{"GCOD": "A", tag: "中" * length})
    for record in [flat] if tag == "GCOD" else [flat, nested]:
        if legal:
            assert plan("GLST", "ADD", record)
        else:
            with pytest.raises(Protocol, match=rf"^value-too-long:{tag}$"):
                plan("GLST", "ADD", record)


def rsta(rtyp: str = "GATE", rsid: str = "B07", stat: str = "D", **window: str) -> Node:
    return node("RSTA", RTYP=rtyp, RSID=rsid, STAT=stat, **window)


@pytest.mark.parametrize("rtyp", sorted(RSTA_TYPES))
@pytest.mark.parametrize("stat", ["E", "D"])
def test_each_resource_has_one_status(rtyp: str, stat: str) -> None:
    """R-424 to R-427: keyed by type and id; put, never a replacement of others."""
    (change,) = plan("RSTA", "DNLD", rsta(rtyp, "7", stat))
    assert isinstance(change, PutRecord)
    assert (change.record.rtype, change.record.rkey) == ("RSTA", f"{rtyp}/7")


def test_an_answer_may_hold_several_statuses_or_none() -> None:
    """R-424, R-425, D-40: an empty `RSTA` changes nothing."""
    assert len(plan("RSTA", "RESP", rsta(rsid="1"), rsta(rsid="2"), rsta(rsid="1"))) == 3
    assert plan("RSTA", "RESP") == ()


def test_a_download_of_several_statuses_is_refused() -> None:
    """R-424: a `DNLD` is a single update: `rsta-records:<n>`."""
    with pytest.raises(Protocol, match=r"^rsta-records:2$"):
        plan("RSTA", "DNLD", rsta(), rsta(rsid="2"))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (rsta(rtyp="DOOR"), "rsta-invalid:RTYP"),
        (rsta(rtyp="gate"), "rsta-invalid:RTYP"),
        (rsta(stat=""), "rsta-invalid:STAT"),
        (rsta(stat="X"), "rsta-invalid:STAT"),
        (rsta(STRT="noon"), "rsta-invalid:STRT"),
        (rsta(ENDT="99MAR271200"), "rsta-invalid:ENDT"),
        (rsta(STRT=sodt(hour=9), ENDT=sodt(hour=8)), "rsta-invalid:ENDT"),
        (rsta(STRT=sodt(hour=8), ENDT=sodt(hour=8)), "rsta-invalid:ENDT"),
        (rsta(rsid=""), "key-missing:RSID"),
    ],
)
def test_a_status_that_does_not_parse_is_refused(record: Node, reason: str) -> None:
    """D-40: `rsta-invalid:<tag>`; one bad record refuses the whole answer."""
    with pytest.raises(Protocol, match=rf"^{reason}$") as caught:
        plan("RSTA", "RESP", rsta(), record)
    assert caught.value.record == 1


def status(stat: str = "D", **window: str) -> ResourceStatus:
    return resource_status(RefRecord("RSTA", "GATE/B07", rsta(stat=stat, **window), 5, NOW), POLICY)


def test_a_window_is_read_in_local_time() -> None:
    """wire (RSTA): flight-time form, the zone of the wire; empty window tags are no window."""
    read = status(STRT=sodt(hour=5), ENDT="")
    assert read == ResourceStatus("GATE", "B07", "D", at(DAY, 5), None, 5)
    assert statuses([RefRecord("RSTA", "GATE/B07", rsta(), 5, NOW)], POLICY) == (status(),)


def test_a_resource_is_available_by_default() -> None:
    """R-428: never heard of, enabled, or enabled with a window."""
    assert is_available(None, NOW)
    assert is_available(status("E"), NOW)
    assert is_available(status("E", STRT=sodt(hour=0), ENDT=sodt(hour=23)), at())


def test_a_window_closes_and_opens_by_itself() -> None:
    """R-429, H-76: not available from start (included) to end (excluded)."""
    closed = status(STRT=sodt(hour=5), ENDT=sodt(hour=7))
    moments = [at(hour=5) - SECOND, at(hour=5), at(hour=7) - SECOND, at(hour=7)]
    assert [is_available(closed, moment) for moment in moments] == [True, False, False, True]


def test_a_window_may_be_open_on_either_side() -> None:
    """R-430, H-76: no end: until a new message; no start: from the beginning of time."""
    assert not is_available(status(STRT=sodt(hour=5)), at() + timedelta(days=999))
    assert not is_available(status(ENDT=sodt(hour=7)), at() - timedelta(days=999))
    assert not is_available(status(), NOW)
