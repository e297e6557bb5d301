"""Messages and tags: what is taken, and the tag tables that everything follows."""

from __future__ import annotations

from msgx_core.model import sis
from msgx_core.model.message import MsgKind, kind_of
from reference.markdown import code, page, prose, sentence, table

INTRO = """\
A message is XML with the root `MSG`: `META` with `SNDR`, `SEQN`, `DTTM`, `TYPE` and `STYP`, then a body.
`TYPE` and `STYP` decide its kind; what is in no table here is `SKIPPED` with the reason `unsupported`. Tags
outside the model are ignored and counted. A value is kept as the text that was sent.
"""
_KINDS = {
    sis.Kind.TEXT: "any text",
    sis.Kind.TIME: "airport local time, `DDMMMYYHHMM`: `14MAR270720`",
    sis.Kind.DURATION: "`HHMM`",
    sis.Kind.INTEGER: "a whole number",
    sis.Kind.DECIMAL: "a decimal number",
    sis.Kind.FLID: "1 to 12 digits, not 0; a number in JSON",
}
_DOES = {
    ("SCHD", "DNLD"): "a pushed schedule: complete records, and what they cover (D-11)",
    ("SCHD", "RESP"): "the answer to a request for whole days (D-32)",
    ("SCHD", "ADFT"): "one flight, which only sets what it says (D-17)",
    ("FLOP", "FDEL"): "one flight is deleted (D-06)",
    ("FLOP", "…"): "one flight, the tags of the sub-type: see below (D-18)",
    ("EROR", "…"): "the AODB refuses a request (D-32)",
}
_EMPTY = {
    sis.OnEmpty.CLEAR: "clears",
    sis.OnEmpty.MALFORMED: "is `MALFORMED`",
    sis.OnEmpty.CLEAR_ALL_OF_ROW: "of the first tag clears all of them",
}


def text() -> str:
    """The page."""
    kinds = [(code(type_), code(styp), sentence(does)) for (type_, styp), does in _DOES.items()]
    categories = ", ".join(map(code, sis.CATEGORIES))
    styps = [
        styp for styp in ("DNLD", "RESP", "ADD", "UPD", "DEL") if kind_of("ARPT", styp) is MsgKind.REFERENCE
    ]
    kinds.append(
        (categories, ", ".join(map(code, styps)), prose("Reference data: lists, or single records (D-40)."))
    )
    kinds.append(
        (code(sis.RSTA), "`DNLD`, `RESP`", prose("What is not available, from when to when (D-40)."))
    )
    return page(
        "Messages and tags",
        INTRO,
        "## Messages\n",
        table(("TYPE", "STYP", "what it is"), kinds),
        "## Looks\n",
        table(("look", "text"), [(kind.value, words) for kind, words in _KINDS.items()]),
        *_flight_tags(),
        *_flop(),
        "## Reference data\n",
        table(
            ("TYPE", "key", "what"),
            [(code(r.rtype), code(r.key), sentence(r.meaning)) for r in sis.CATEGORIES.values()],
        ),
        f"`RSTA` says of {', '.join(map(code, sorted(sis.RSTA_TYPES)))} whether one is"
        f" {' or '.join(map(code, sorted(sis.RSTA_STATUSES)))}.\n",
    )


def _flight_tags() -> list[str]:
    scalars = [(code(s.tag), s.kind.value, sentence(s.group)) for s in sis.SCALARS.values()]
    singles = [
        (code(s.tag), ", ".join(map(code, s.attributes)), code(s.cleared_by or ""))
        for s in sis.SINGLES.values()
    ]
    rows = []
    for c in sis.COLLECTIONS.values():
        keys = ", ".join(f"{code(key)} ({kind.value})" for key, kind in {**c.attributes, **c.keys}.items())
        limit = "none" if c.limit is None else str(c.limit)
        kept = "the first `msgx.route.max-points`" if c.truncated else "all"
        rows.append((code(c.tag), code(c.sequence or ""), keys, limit, kept))
    raw = ", ".join(map(code, sis.RAW_SECTIONS))
    return [
        "## Tags of a flight: single values\n",
        table(("tag", "look", "group"), scalars),
        "## Tags of a flight: elements with attributes\n",
        table(("tag", "attributes", "cleared when this is blank"), singles),
        "## Tags of a flight: collections\n\nReplaced as a whole; their order counts.\n",
        table(("tag", "number", "keys", "limit", "kept"), rows),
        f"{raw} are kept as raw XML and never published ({prose('D-39')}). `MAFL`, the code-share flights, is"
        f" worked out and never read ({prose('D-21')}).\n",
    ]


def _flop() -> list[str]:
    rows = [
        (code(row.styp), ", ".join(map(code, row.tags)), _EMPTY[row.on_empty], row.whitelist.value)
        for row in sis.FLOP_ROWS.values()
    ]
    return [
        "## Sub-types of FLOP\n\n`msgx.flop.whitelist` lets them in: `baseline`, `all` (which has those of"
        " `baseline`), `extended` (which has all), or a list.\n",
        table(("STYP", "tags", "an empty tag", "from"), rows),
    ]
