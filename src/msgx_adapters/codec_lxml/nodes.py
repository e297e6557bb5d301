"""One reference record to a lossless `Node` tree."""

from __future__ import annotations

from lxml import etree

from msgx_adapters.codec_lxml.parsing import attribute_names, line_of
from msgx_core.errors import Malformed
from msgx_core.model.message import Node

MAX_LEVELS = 100
"""Real records have three or four; the limit keeps the recursion here and in readers of a Node small."""

MAX_ATTRIBUTES = 100
"""Reading one attribute takes lxml time by their number, so their number is bounded."""

OTHER_TEXT = "#text"


def reference_node(element: etree._Element, level: int = 2) -> Node:
    """The tree of `element`, which stands `level` levels deep in the document (`MSG` is 1).

    Raises `Malformed` `not-well-formed` beyond `MAX_LEVELS` or `MAX_ATTRIBUTES`.
    """
    if level > MAX_LEVELS:
        raise _refusal(element, f"more than {MAX_LEVELS} levels")
    names = attribute_names(element)
    if len(names) > MAX_ATTRIBUTES:
        raise _refusal(element, f"more than {MAX_ATTRIBUTES} attributes")
    children: list[Node] = []
    for child in element:
        children.append(reference_node(child, level + 1))
        tail = (child.tail or "").strip()
        if tail:
            children.append(Node(OTHER_TEXT, tail))
    attributes = {name: element.get(name, "").strip() for name in names}
    return Node(element.tag, (element.text or "").strip(), attributes, tuple(children))


def _refusal(element: etree._Element, why: str) -> Malformed:
    return Malformed("not-well-formed", tag=element.tag, text=why, line=line_of(element))
