"""One reference record to a lossless `Node` tree."""

from __future__ import annotations

from lxml import etree

from msgx_adapters.codec_lxml.parsing import attributes_of, line_of
from msgx_core.errors import Malformed
from msgx_core.model.message import Node

MAX_LEVELS = 100
"""Real records have three or four; the limit keeps the recursion here and in readers of a Node small."""

OTHER_TEXT = "#text"


def reference_node(element: etree._Element, level: int = 2) -> Node:
    """The tree of `element`, which stands `level` levels deep in the document (`MSG` is 1).

    Raises `Malformed` `not-well-formed` beyond `MAX_LEVELS`.
    """
    if level > MAX_LEVELS:
        raise Malformed(
            "not-well-formed", tag=element.tag, text=f"more than {MAX_LEVELS} levels", line=line_of(element)
        )
    children: list[Node] = []
    for child in element:
        children.append(reference_node(child, level + 1))
        tail = (child.tail or "").strip()
        if tail:
            children.append(Node(OTHER_TEXT, tail))
    attributes = {name: value.strip() for name, value in attributes_of(element)}
    return Node(element.tag, (element.text or "").strip(), attributes, tuple(children))
