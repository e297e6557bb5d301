"""Store suite: rosters with their generations (D-11), and reference data (IMP §13.3)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msgx_core.model.change import RosterReplace
from msgx_core.model.message import Node
from msgx_core.model.reference import PutRecord, RefRecord, RemoveRecord, ReplaceCategory
from msgx_core.model.schedule import Roster
from msgx_core.ports import Store
from msgx_core.testing.builders import DAY, NEXT_DAY, NOW, apply, later
from msgx_core.testing.store_contract import Oracle, StoreContract, count

HYPOTHESIS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
TAGS = st.sampled_from(["GCOD", "CNMC", "名称", "#text", "OPER"])
NODES = st.recursive(
    st.builds(Node, TAGS, TEXT, st.dictionaries(TAGS, TEXT, max_size=3)),
    lambda inner: st.builds(
        Node,
        TAGS,
        TEXT,
        st.dictionaries(TAGS, TEXT, max_size=2),
        st.lists(inner, max_size=4).map(tuple),
    ),
    max_leaves=12,
)


def _record(rkey: str, rtype: str = "GLST", msg_id: int = 1, node: Node | None = None) -> RefRecord:
    return RefRecord(rtype, rkey, node or Node(rtype, children=(Node("GCOD", rkey),)), msg_id, NOW)


def _keys(store: Store, rtype: str = "GLST") -> list[str]:
    return [record.rkey for record in store.references(rtype)]


class LedgerContract(StoreContract):
    """Rosters and reference records as ① leaves them."""

    def test_a_covered_day_gets_its_roster_and_the_next_generation(self, held: Store) -> None:
        """R-318, R-319, R-322, D-11: replaced as a whole; the generation counts."""
        apply(held, 1, rosters=(RosterReplace(DAY, 0, frozenset({1, 2})),))
        apply(held, 2, rosters=(RosterReplace(DAY, 1, frozenset({2, 3})),))
        assert list(held.rosters()) == [Roster(DAY, 2, frozenset({2, 3}))]

    def test_an_empty_roster_is_a_generation_too(self, held: Store) -> None:
        """D-12, R-328: an empty package over a covered day."""
        apply(held, 1, rosters=(RosterReplace(DAY, 0, frozenset()),))
        assert list(held.rosters()) == [Roster(DAY, 1, frozenset())]

    def test_a_record_puts_its_flight_on_the_roster_of_its_day(self, held: Store) -> None:
        """D-11: rosters exist before the first answer, with generation 0; adding twice is once."""
        apply(held, 1, roster_add={1: DAY, 2: NEXT_DAY})
        apply(held, 2, roster_add={1: DAY, 3: DAY})
        assert list(held.rosters()) == [
            Roster(DAY, 0, frozenset({1, 3})),
            Roster(NEXT_DAY, 0, frozenset({2})),
        ]
        assert list(held.rosters(NEXT_DAY)) == [Roster(NEXT_DAY, 0, frozenset({2}))]
        assert list(held.rosters(date(2030, 1, 1))) == []

    def test_the_first_answer_covers_a_day_that_has_a_roster(self, held: Store) -> None:
        """D-11: generation 0 becomes 1."""
        apply(held, 1, roster_add={1: DAY})
        apply(held, 2, rosters=(RosterReplace(DAY, 0, frozenset({2})),))
        assert list(held.rosters()) == [Roster(DAY, 1, frozenset({2}))]

    def test_a_deletion_takes_the_flight_off_any_roster(self, held: Store) -> None:
        """R-297, D-06, D-11, R-299: the generation stays."""
        apply(held, 1, rosters=(RosterReplace(DAY, 0, frozenset({1, 2})),), roster_add={3: NEXT_DAY})
        apply(held, 2, roster_remove=frozenset({2, 3, 99}))
        assert list(held.rosters()) == [Roster(DAY, 1, frozenset({1}))]

    def test_additions_and_removals_come_after_the_replacements(self, held: Store) -> None:
        """`Change`: both apply to the new rosters."""
        apply(held, 1, roster_add={1: DAY})
        apply(
            held,
            2,
            rosters=(RosterReplace(DAY, 0, frozenset({1, 2})),),
            roster_add={3: DAY},
            roster_remove=frozenset({1}),
        )
        assert list(held.rosters()) == [Roster(DAY, 1, frozenset({2, 3}))]

    def test_rosters_are_disjoint_but_a_package_may_move_a_flight(self, held: Store, oracle: Oracle) -> None:
        """R-321: within one ① both rosters are replaced, whatever their order."""
        apply(held, 1, roster_add={1: DAY, 2: NEXT_DAY})
        swapped = (RosterReplace(DAY, 0, frozenset({2})), RosterReplace(NEXT_DAY, 0, frozenset({1})))
        apply(held, 2, rosters=swapped)
        assert [roster.flids for roster in held.rosters()] == [{2}, {1}]
        assert count(oracle, "SCHD_GEN_FLID") == 2

    def test_a_full_list_replaces_its_category_only(self, held: Store) -> None:
        """R-420 ff., IMP §13.3: everything else of the category goes, other categories stay."""
        apply(held, 1, reference=(ReplaceCategory("GLST", (_record("B"), _record("A"))),))
        apply(held, 2, reference=(PutRecord(_record("A", "BLST")),))
        apply(held, 3, reference=(ReplaceCategory("GLST", (_record("C"), _record("B"))),))
        assert _keys(held) == ["B", "C"]
        assert _keys(held, "BLST") == ["A"]
        apply(held, 4, reference=(ReplaceCategory("GLST", ()),))
        assert _keys(held) == []

    def test_single_records_apply_in_their_order(self, held: Store) -> None:
        """D-40: put is set, removing the missing is no error, the last one wins."""
        first = _record("A", node=Node("GLST", "1"))
        last = _record("A", msg_id=2, node=Node("GLST", "2"))
        changes = (RemoveRecord("GLST", "X"), PutRecord(first), PutRecord(_record("B")))
        apply(held, 1, reference=changes)
        apply(held, 2, reference=(RemoveRecord("GLST", "B"), RemoveRecord("GLST", "A"), PutRecord(last)))
        assert list(held.references("GLST")) == [last]
        assert list(held.references("GLST", "A")) == [last]
        assert list(held.references("GLST", "B")) == []

    def test_records_page_by_page(self, held: Store) -> None:
        """By key, character by character as the codes of the characters are; every record once."""
        keys = ["a", "B", "A2", "A10", "A", "机", "~"]
        apply(held, 1, reference=tuple(PutRecord(_record(key)) for key in keys))
        apply(held, 2, reference=(PutRecord(_record("A1", "SLST")),))
        found: list[str] = []
        while page := held.reference_page("GLST", 2, found[-1] if found else None):
            assert len(page) <= 2
            found += [record.rkey for record in page]
        assert found == sorted(keys)
        assert list(held.reference_page("GLST", 1)) == list(held.references("GLST", "A"))
        assert list(held.reference_page("CLST")) == []

    @pytest.mark.parametrize(
        ("text", "keys"),
        [
            ("hong", ["HKG"]),
            ("香港", ["HKG"]),
            ("KM", ["KMG"]),
            ("NAME", ["HKG", "KMG"]),
            ('5" \\', ["KMG"]),
            ("note", ["HKG"]),
            ("%", []),
            ("_", []),
            ("", ["HKG", "KMG"]),
        ],
    )
    def test_records_with_a_text(self, held: Store, text: str, keys: list[str]) -> None:
        """Keys, tags, values and attributes; nothing is a wildcard; letters alike, large or small."""
        hong_kong = Node("ARPT", "", {"NOTE": "x"}, (Node("ITCD", "HKG"), Node("NAME", "Hong Kong 香港")))
        kunming = Node("ARPT", "", {}, (Node("ITCD", "KMG"), Node("NAME", 'Kunming 5" \\')))
        for msg_id, (key, node) in enumerate([("HKG", hong_kong), ("KMG", kunming)], start=1):
            apply(held, msg_id, reference=(PutRecord(_record(key, "ARPT", node=node)),))
        assert [record.rkey for record in held.reference_page("ARPT", text=text)] == keys
        assert [record.rkey for record in held.reference_page("ARPT", 100, "HKG", text)] == [
            key for key in keys if key > "HKG"
        ]

    def test_sizes_of_categories(self, held: Store) -> None:
        """Those that have records, with their last change."""
        assert list(held.reference_sizes()) == []
        second = RefRecord("GLST", "B", Node("GLST", children=(Node("GCOD", "B"),)), 2, later(5))
        apply(held, 1, reference=(PutRecord(_record("A")), PutRecord(_record("GATE/A1", "RSTA"))))
        apply(held, 2, reference=(PutRecord(second),))
        assert [dict(row) for row in held.reference_sizes()] == [
            {"RTYPE": "GLST", "N": 2, "MSG_ID": 2, "UPDATED_AT": later(5)},
            {"RTYPE": "RSTA", "N": 1, "MSG_ID": 1, "UPDATED_AT": NOW},
        ]
        apply(held, 3, reference=(RemoveRecord("RSTA", "GATE/A1"),))
        assert [row["RTYPE"] for row in held.reference_sizes()] == ["GLST"]

    def test_the_logical_view(self, held: Store, oracle: Oracle) -> None:
        """R-422, R-007: REF_MASTER has every category, (RTYPE, RKEY) once."""
        apply(held, 1, reference=(PutRecord(_record("A")), PutRecord(_record("GATE/A1", "RSTA"))))
        rows = oracle.rows("SELECT RTYPE, RKEY, MSG_ID FROM REF_MASTER ORDER BY RTYPE")
        assert [(row["RTYPE"], row["RKEY"]) for row in rows] == [("GLST", "A"), ("RSTA", "GATE/A1")]

    @HYPOTHESIS
    @given(node=NODES, key=TEXT.filter(bool))
    def test_a_record_is_kept_whole(self, held: Store, node: Node, key: str) -> None:
        """D-40, H-74: order, repetition, attributes, empty tags, Chinese text, any depth."""
        msg_id = 1 + max(held.counts().messages.values(), default=0)
        record = RefRecord("GLST", key, node, msg_id, later(msg_id))
        apply(held, msg_id, reference=(PutRecord(record),))
        assert list(held.references("GLST", key)) == [record]
