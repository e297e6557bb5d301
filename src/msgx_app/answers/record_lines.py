"""A reference record for people: its tags line by line, in the order in which they were sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from msgx_core.model.message import Node


@frozen
class Line:
    """One element: how deep it lies below the record, its attributes and its text."""

    depth: int
    tag: str
    attributes: Mapping[str, str]
    text: str


def lines(node: Node) -> Iterator[Line]:
    """All elements inside a record, each before what is in it.

    >>> inner = Node("GATE", "", {}, (Node("GCOD", "A1"), Node("GNAM", "Gate A1")))
    >>> [(each.depth, each.tag, each.text) for each in lines(Node("GLST", "", {}, (inner,)))]
    [(0, 'GATE', ''), (1, 'GCOD', 'A1'), (1, 'GNAM', 'Gate A1')]
    """
    waiting = [(0, child) for child in reversed(node.children)]
    while waiting:
        depth, found = waiting.pop()
        yield Line(depth, found.tag, found.attributes, found.text)
        waiting += [(depth + 1, child) for child in reversed(found.children)]
