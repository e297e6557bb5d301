"""A small XML tree and its rendering: every value is escaped, the look varies as upstreams' looks do."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from attrs import evolve, frozen

PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ROOT_ATTRIBUTES = (
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    ("xsi:noNamespaceSchemaLocation", "unisysaodbsis.xsd"),
)
_CONTAINERS = frozenset({"MSG", "META", "SCHD", "FLTR", "FLOP"})


@frozen
class Tag:
    """One element: text or children, attributes in order. Nothing in it is XML until it is rendered."""

    name: str
    text: str = ""
    children: tuple[Tag, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()

    def child(self, name: str) -> str:
        """The text of the first child of that name, empty if there is none."""
        return next((c.text for c in self.children if c.name == name), "")

    def put(self, name: str, text: str) -> Tag:
        """The same element with that child set: in its place if it is there, else as the last one."""
        new = Tag(name, text)
        if any(c.name == name for c in self.children):
            return evolve(self, children=tuple(new if c.name == name else c for c in self.children))
        return evolve(self, children=(*self.children, new))


@frozen
class Style:
    """How a document looks; nothing here changes what it says (wire, Envelope)."""

    indent: bool = True
    spaced: bool = False
    empty: str = "pair"
    meta_shift: int = 0


@frozen
class Meta:
    """The `META` of one message; all five values are mandatory."""

    sender: str
    seqn: int
    dttm: str
    type: str
    styp: str

    def tag(self, shift: int = 0) -> Tag:
        """The element, its children rotated by `shift` (their order is not guaranteed)."""
        pairs = (
            ("SNDR", self.sender),
            ("SEQN", str(self.seqn)),
            ("DTTM", self.dttm),
            ("TYPE", self.type),
            ("STYP", self.styp),
        )
        shift %= len(pairs)
        return Tag("META", children=tuple(Tag(n, t) for n, t in (*pairs[shift:], *pairs[:shift])))


def record(name: str, *pairs: tuple[str, str], **attributes: str) -> Tag:
    """An element with text children, one per pair, and attributes."""
    return Tag(name, children=tuple(Tag(n, t) for n, t in pairs), attributes=tuple(attributes.items()))


def document(meta: Meta, body: Iterable[Tag], style: Style) -> bytes:
    """A whole message in UTF-8: `META` first, then the body."""
    root = Tag("MSG", children=(meta.tag(style.meta_shift), *body), attributes=_ROOT_ATTRIBUTES)
    return (PROLOG + render(root, style) + "\n").encode("utf-8")


def render(tag: Tag, style: Style, depth: int = 0) -> str:
    """One element as XML text, without a prolog."""
    equals = " = " if style.spaced else "="
    opened = tag.name + "".join(f" {n}{equals}{quoteattr(v)}" for n, v in tag.attributes)
    if not tag.children:
        return _leaf(tag, opened, style)
    if style.indent and tag.name in _CONTAINERS:
        margin = "\n" + "  " * (depth + 1)
        inner = "".join(margin + render(c, style, depth + 1) for c in tag.children) + "\n" + "  " * depth
    else:
        inner = "".join(render(c, style, depth) for c in tag.children)
    return f"<{opened}>{escape(tag.text)}{inner}</{tag.name}>"


def _leaf(tag: Tag, opened: str, style: Style) -> str:
    if tag.text:
        return f"<{opened}>{escape(tag.text)}</{tag.name}>"
    if style.empty == "short":
        return f"<{opened}/>"
    return f"<{opened}>{'  ' if style.empty == 'blank' else ''}</{tag.name}>"
