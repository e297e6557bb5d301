"""Reference data in memory, each category as an ordered list (IMP §13.3, D-40)."""

from __future__ import annotations

from attrs import define, field

from msgx_core.model.reference import PutRecord, RefChange, RefRecord, ReplaceCategory


@define
class RefLists:
    """What a store holds after the changes given so far; `ordinals` are the places in the lists, from 1.

    `replaced` names the categories that a full list has put: these are known whole.
    """

    records: dict[str, dict[str, RefRecord]] = field(factory=dict)
    ordinals: dict[str, dict[str, int]] = field(factory=dict)
    replaced: set[str] = field(factory=set)

    def copied(self) -> RefLists:
        """The same lists, to be changed apart."""
        records = {rtype: dict(each) for rtype, each in self.records.items()}
        ordinals = {rtype: dict(each) for rtype, each in self.ordinals.items()}
        return RefLists(records, ordinals, set(self.replaced))

    def change(self, change: RefChange) -> None:
        """A record that stays keeps its place; a new one comes behind the last."""
        if isinstance(change, ReplaceCategory):
            self.records[change.rtype] = {record.rkey: record for record in change.records}
            self.ordinals[change.rtype] = {record.rkey: n for n, record in enumerate(change.records, 1)}
            self.replaced.add(change.rtype)
        elif isinstance(change, PutRecord):
            record = change.record
            self.records.setdefault(record.rtype, {})[record.rkey] = record
            places = self.ordinals.setdefault(record.rtype, {})
            if record.rkey not in places:
                places[record.rkey] = 1 + max(places.values(), default=0)
        else:
            self.records.get(change.rtype, {}).pop(change.rkey, None)
            self.ordinals.get(change.rtype, {}).pop(change.rkey, None)
