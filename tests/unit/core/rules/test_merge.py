"""The three ways to merge: a complete record replaces, an ADFT sets, a FLOP changes its own tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.errors import Malformed
from msgx_core.model.flight import Fields
from msgx_core.model.message import FlightRecord
from msgx_core.model.sis import COLLECTIONS, FLOP_ROWS, MODEL_TAGS, SCALARS, FlopRow, Kind, whitelist
from msgx_core.rules.merge import apply_flop, changed_tags, merge_adft, merge_complete, read_flop
from msgx_core.rules.records import read_record
from msgx_core.testing.strategies import empty, fields, records
from tests.unit.core.build import Tag, record

ROWS = sorted(FLOP_ROWS)
SAMPLES = {
    Kind.TEXT: "X1",
    Kind.TIME: "14MAR271200",
    Kind.INTEGER: "12",
    Kind.DECIMAL: "1.5",
    Kind.FLID: "0042",
}


def sample(tag: str) -> Tag:
    """A plain legal value of a tag."""
    if tag in SCALARS:
        return SAMPLES[SCALARS[tag].kind]
    if tag in COLLECTIONS:
        spec = COLLECTIONS[tag]
        key = spec.first_key
        return [{key: SAMPLES[{**spec.attributes, **spec.keys}[key]]}]
    return {"FDIV": {"DDES": "KMG", "DDIR": "TO"}, "FRET": {"REID": "G", "TEXT": "fog"}}[tag]


def held(*tags: str) -> Fields:
    return merge_complete(read_record(record(7, **{tag: sample(tag) for tag in tags}), 7))


@given(fields(), records())
def test_a_complete_record_replaces_everything(before: Fields, sent: FlightRecord) -> None:
    """D-14, R-192 to R-194: absent or empty clears; so the state before has no say."""
    values = read_record(sent, 7)
    after = merge_complete(values)
    assert after == dict(values.values)
    assert set(after).isdisjoint(values.empty)
    assert changed_tags(after, merge_complete(values)) == (), "again: nothing changes"
    assert set(changed_tags(before, after)) <= {*before, *after}


@given(fields(), records())
def test_an_adft_never_clears(before: Fields, sent: FlightRecord) -> None:
    """D-17, R-201: absent and empty tags change nothing, the others are set."""
    values = read_record(sent, 7)
    after = merge_adft(before, values)
    assert {tag: after[tag] for tag in values.values} == dict(values.values)
    assert {tag: after[tag] for tag in before if tag not in values.values} == {
        tag: value for tag, value in before.items() if tag not in values.values
    }
    assert merge_adft(after, values) == after


@given(fields(), st.sampled_from(ROWS), st.data())
def test_a_flop_changes_only_its_own_tags(before: Fields, styp: str, data: st.DataObject) -> None:
    """R-220, D-18, R-208, R-209: whatever else the body says."""
    row = FLOP_ROWS[styp]
    noise = data.draw(records())
    sent = record(7, **{**noise.values, **noise.elements, **{tag: sample(tag) for tag in row.tags}})
    after = apply_flop(before, read_flop(styp, sent))
    assert {t: v for t, v in after.items() if t not in row.tags} == {
        t: v for t, v in before.items() if t not in row.tags
    }
    assert {tag: after[tag] for tag in row.tags} == dict(held(*row.tags))


@given(fields(), records(), st.sampled_from(ROWS))
def test_fields_are_always_in_table_order(before: Fields, sent: FlightRecord, styp: str) -> None:
    """architecture (Tables as data): JSON and `CHANGED` follow the tables, not the message."""
    values, flop = (
        read_record(sent, 7),
        read_flop(styp, record(7, **{t: sample(t) for t in FLOP_ROWS[styp].tags})),
    )
    merged = [merge_complete(values), merge_adft(before, values), apply_flop(before, flop)]
    for after in merged:
        assert list(after) == [tag for tag in MODEL_TAGS if tag in after]


@pytest.mark.parametrize("styp", ROWS)
def test_a_present_tag_replaces(styp: str) -> None:
    """R-212, R-221, R-254, R-222 to R-249, D-18: each row of the table; a FLID becomes a number."""
    row = FLOP_ROWS[styp]
    update = read_flop(styp, record("0007", **{tag: sample(tag) for tag in row.tags}))
    assert (update.flid, update.clears) == (7, frozenset())
    assert dict(update.sets) == dict(held(*row.tags))


CLEARING = sorted(set(ROWS) - {"ACFT", "FLTY", "FLIN", "TAOP"})


@pytest.mark.parametrize(("styp", "tag"), [(styp, tag) for styp in CLEARING for tag in FLOP_ROWS[styp].tags])
def test_an_empty_tag_clears_that_tag(styp: str, tag: str) -> None:
    """R-252, R-254, R-224 to R-248, D-18: also `CNCL` (undo), `FDIV`, `FRET`, and one of several like
    `FHAG` or `VIPR`."""
    row = FLOP_ROWS[styp]
    after = apply_flop(held(*row.tags, "FLNO"), read_flop(styp, record(7, **{tag: empty(tag)})))
    assert after == held(*(t for t in row.tags if t != tag), "FLNO")


@pytest.mark.parametrize("styp", ["ACFT", "FLTY", "FLIN"])
def test_mandatory_tags_may_not_be_empty(styp: str) -> None:
    """D-18, R-229, R-233, R-239: `payload-empty:<tag>`."""
    with pytest.raises(Malformed, match=rf"^payload-empty:{styp}$"):
        read_flop(styp, record(7, **{styp: ""}))


@pytest.mark.parametrize("empty", ["TAOP", "TAFL", "TAID"])
def test_any_empty_part_breaks_the_turnaround_link(empty: str) -> None:
    """R-246: all three go, whatever the other two say."""
    sent = {"TAOP": "QX", "TAFL": "1", "TAID": "9", empty: ""}
    after = apply_flop(held("TAOP", "TAFL", "TAID", "STND"), read_flop("TAOP", record(7, **sent)))
    assert dict(after) == {"STND": "X1"}


def test_an_absent_part_keeps_the_turnaround_link() -> None:
    """R-209, R-246: absent is not empty."""
    after = apply_flop(held("TAOP", "TAFL", "TAID"), read_flop("TAOP", record(7, TAFL="2")))
    assert dict(after) == {"TAOP": "X1", "TAFL": "2", "TAID": 42}


def test_handling_agents_come_and_go_alone() -> None:
    """R-243: `MHAG` may be absent and stays; an empty `FHAG` deletes that agent."""
    after = apply_flop(held("PHAG", "FHAG", "MHAG"), read_flop("HNAG", record(7, FHAG="", PHAG="P2")))
    assert dict(after) == {"PHAG": "P2", "MHAG": "X1"}


@pytest.mark.parametrize("styp", ["HNAG", "EXSS"])
def test_some_rows_have_no_tag_of_their_own_name(styp: str) -> None:
    """D-18: `HNAG` means `PHAG`/`FHAG`/`MHAG`, `EXSS` means `EXSC`/`EXSR`."""
    assert styp not in SCALARS
    with pytest.raises(Malformed, match=rf"^payload-missing:{styp}$"):
        read_flop(styp, record(7, **{styp: "X"}))


@pytest.mark.parametrize("styp", ROWS)
def test_none_of_its_tags_is_malformed(styp: str) -> None:
    """D-18, R-066: `payload-missing:<STYP>` even when other known tags are there."""
    other = next(tag for tag in ("REMC", "STND") if tag not in FLOP_ROWS[styp].tags)
    with pytest.raises(Malformed, match=rf"^payload-missing:{styp}$") as caught:
        read_flop(styp, record(7, **{other: "x"}))
    assert caught.value.flid == 7


@pytest.mark.parametrize("flid", [None, "", "0", "x", "1234567890123", "１５"])
def test_a_flop_needs_a_flid(flid: str | None) -> None:
    """D-25: outside a package an invalid `FLID` is `MALFORMED`, and it is said before anything else."""
    with pytest.raises(Malformed, match=rf"^flid-invalid:{flid or ''}$"):
        read_flop("STND", record(flid))


def test_a_flop_without_body() -> None:
    """R-066: the payload element itself is missing."""
    with pytest.raises(Malformed, match=r"^payload-missing:FLOP$"):
        read_flop("STND", None)


def test_bad_values_elsewhere_do_not_matter() -> None:
    """D-18: other tags are never parsed, a bad one of the row is `MALFORMED`."""
    assert read_flop("STND", record(7, STND="2", ESTT="soon", GTDT=[{"PGOT": "noon"}])).sets == {"STND": "2"}
    with pytest.raises(Malformed, match=r"^bad-time:ESTT$"):
        read_flop("ESTT", record(7, ESTT="soon"))


def rows_in(*names: str) -> set[FlopRow]:
    return {FLOP_ROWS[name] for name in names}


def test_the_named_whitelists() -> None:
    """R-212, D-18, R-211: baseline is the seven of IMP; each list holds the one before; SRVT is in none."""
    extended = {"APPT", "EGSR", "EGST", "NAAT", "NEAT", "PEDT", "EXSS", "ERUT"}
    assert whitelist("baseline") == {"ABTM", "DELY", "PSDT", "CKDT", "CLDT", "CHDT", "GTDT"}
    assert whitelist("baseline") < whitelist("all") == set(FLOP_ROWS) - extended
    assert whitelist("extended") == set(FLOP_ROWS) > whitelist("all")
    assert {"PADT", "FTSS", "STND", "BDPB", "REMC"} <= whitelist("all")
    assert whitelist("extended").isdisjoint({"SRVT", "VIPF", "FDEL", "SODT"})


@given(fields(), fields())
def test_changed_names_exactly_what_differs(before: Fields, after: Fields) -> None:
    """D-15, D-28: each tag once, in table order."""
    differing = [t for t in MODEL_TAGS if before.get(t) != after.get(t)]
    assert list(changed_tags(before, after)) == differing
