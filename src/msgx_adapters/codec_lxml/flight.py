"""One `FLTR` or `FLOP` element to a `FlightRecord`. The hot path: one look at each element."""

from __future__ import annotations

from lxml import etree

from msgx_adapters.codec_lxml.parsing import attribute_names
from msgx_adapters.codec_lxml.tables import FLID, SCALAR_TAGS, SECTIONS, SHAPES, TEXT, Ignored, Shape
from msgx_core.model.message import Element, FlightRecord


def flight_record(source: etree._Element, ignored: Ignored, marker: str = FLID) -> FlightRecord:
    """The record in `source`; `marker` is a tag that is neither kept nor counted."""
    values: dict[str, str] = {}
    elements: dict[str, list[Element]] = {}
    others: list[etree._Element] = []
    scalar_tags, shapes = SCALAR_TAGS.get, SHAPES.get
    for child in source:
        tag = child.tag
        key = scalar_tags(tag)
        if key is not None:
            text = child.text
            values[key] = text.strip() if text else _blank(child, ignored)
            continue
        shape = shapes(tag)
        if shape is None:
            others.append(child)
        elif tag in elements:
            elements[tag].append(_flat(child, shape, ignored))
        else:
            elements[tag] = [_flat(child, shape, ignored)]
    tags = frozenset((*values, *elements, *(child.tag for child in others)))
    return FlightRecord(
        values.pop(FLID, None),
        values,
        {tag: tuple(items) for tag, items in elements.items()},
        _sections(others, ignored, marker),
        tags,
    )


def _blank(scalar: etree._Element, ignored: Ignored) -> str:
    if len(scalar):
        for child in scalar:
            ignored.add(child.tag)
    return ""


def _flat(element: etree._Element, shape: Shape, ignored: Ignored) -> Element:
    flat: dict[str, str] = {}
    for name in attribute_names(element):
        key = shape.attributes.get(name)
        if key is None:
            ignored.add(name)
        else:
            flat[key] = element.get(name, "").strip()
    children = shape.children.get
    for child in element:
        tag = child.tag
        key = children(tag)
        if key is not None:
            text = child.text
            flat[key] = text.strip() if text else _blank(child, ignored)
        elif tag not in shape.dropped:
            ignored.add(tag)
    if shape.has_text:
        text = "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
        if text:
            flat[TEXT] = text
    return flat


def _sections(others: list[etree._Element], ignored: Ignored, marker: str) -> dict[str, str]:
    """XML text of the raw sections among them; the others are counted."""
    sections: dict[str, list[str]] = {}
    for child in others:
        tag = child.tag
        if tag in SECTIONS:
            sections.setdefault(tag, []).append(_xml_text(child))
        elif tag != marker:
            ignored.add(tag)
    return {tag: "".join(texts) for tag, texts in sections.items()}


def _xml_text(element: etree._Element) -> str:
    # Under a bare parent the text carries only namespaces that it uses, not those declared on MSG.
    bare = etree.Element("bare")
    bare.append(element)
    return etree.tostring(element, encoding="unicode", with_tail=False)
