"""Flight fields and reference trees as JSON text, without loss."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgx_core.model.flight import Fields, FieldValue
from msgx_core.model.message import Node

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def dump_fields(fields: Fields) -> str:
    """Fields as one JSON object: text, numbers, elements as objects, collections as arrays of objects.

    >>> dump_fields({"FLNO": "CA1", "MAID": 7, "GTDT": ({"GATE": "A1"},)})
    '{"FLNO":"CA1","MAID":7,"GTDT":[{"GATE":"A1"}]}'
    """
    return _encode({tag: _plain(value) for tag, value in fields.items()})


def _plain(value: FieldValue) -> Any:
    if isinstance(value, (str, int)):
        return value
    return dict(value) if isinstance(value, Mapping) else [dict(element) for element in value]


def load_fields(texts: Sequence[str]) -> list[dict[str, FieldValue]]:
    """What `dump_fields` was given, for several flights: parsed together, they share their keys in memory.

    >>> load_fields(['{"GTDT":[{"GATE":"A1"}]}'])
    [{'GTDT': ({'GATE': 'A1'},)}]
    """
    found: list[dict[str, Any]] = json.loads(f"[{','.join(texts)}]")
    for fields in found:
        for tag, value in fields.items():
            if isinstance(value, list):
                fields[tag] = tuple(value)
    return found


def dump_node(node: Node) -> str:
    """A tree as nested arrays: tag, text, attributes, children."""
    return _encode(_tree(node))


def _tree(node: Node) -> list[Any]:
    return [node.tag, node.text, dict(node.attributes), [_tree(child) for child in node.children]]


def load_node(text: str) -> Node:
    """What `dump_node` was given.

    >>> load_node('["GLST","",{},[["GCOD","A1",{},[]]]]').value("GCOD")
    'A1'
    """
    return _node(json.loads(text))


def _node(tree: list[Any]) -> Node:
    tag, text, attributes, children = tree
    return Node(tag, text, attributes, tuple(_node(child) for child in children))


def needle(text: str) -> str:
    """A text as it stands inside what `dump_node` makes.

    >>> needle('say "A1"') in dump_node(Node("GLST", 'they say "A1" here'))
    True
    """
    return _encode(text)[1:-1]


def dump_counts(counts: Mapping[str, int]) -> str | None:
    """Numbers by name as a JSON object; None where there are none."""
    return _encode(dict(counts)) if counts else None


def dump_list(values: object) -> str:
    """A list of plain values."""
    return _encode(values)
