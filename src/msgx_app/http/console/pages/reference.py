"""Reference data: categories with their sizes, the records of one, and one record by its tags."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from litestar import Response
from litestar.params import FromPath

from msgx_app.answers.documents import reference_row
from msgx_app.answers.record_lines import lines
from msgx_app.http.console.desk import GivenConsole, page_of, shows
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest
from msgx_app.refusals import Missing
from msgx_core.model.sis import CATEGORIES, MAX_KEY_CHARS, RSTA

ENTRY = Entry("reference", "/console/reference", "data")
NAMES: Final = (*CATEGORIES, RSTA)
MAX_LINES: Final = 1000
SHOWN_CHARS: Final = 100_000


@shows("/console/reference")
async def categories(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """All categories; those without a record, too."""

    def make(desk: Desk) -> dict[str, Any]:
        sizes = {row["RTYPE"]: row for row in desk.store.reference_sizes()}
        return {"rows": [{"RTYPE": rtype, "N": 0, **sizes.get(rtype, {})} for rtype in NAMES]}

    return await console.show(request, "reference.html", make)


@shows("/console/reference/{rtype:str}")
async def records(request: AnyRequest, console: GivenConsole, rtype: FromPath[str]) -> Response[bytes]:
    """Records by key, those with a text alone if one is searched for; with `key` the record of that key."""
    if rtype not in NAMES:
        raise Missing(f"{rtype[:20]!r} is no category: one of {' '.join(NAMES)}")
    query = Query.of(request)
    key, text = query.exact("key", MAX_KEY_CHARS), query.text("find", 100)
    after = query.exact("after", MAX_KEY_CHARS)

    def listed(desk: Desk) -> dict[str, Any]:
        page = page_of(
            query.here,
            after,
            lambda n: desk.store.reference_page(rtype, n, after, text),
            lambda record: record.rkey,
        )
        return {"rtype": rtype, "text": text, "page": page, "is_first": after is None}

    if key is None:
        return await console.show(request, "records.html", listed)
    return await console.show(request, "record.html", lambda desk: _record(desk, rtype, key))


def _record(desk: Desk, rtype: str, key: str) -> dict[str, Any]:
    found = desk.store.references(rtype, key)
    if not found:
        raise Missing(f"{rtype} has no record {key}")
    row = reference_row(found[0])
    shown = list(islice(lines(found[0].node), MAX_LINES + 1))
    return {
        "rtype": rtype,
        "row": row,
        "changed_at": found[0].updated_at,
        "lines": shown[:MAX_LINES],
        "is_cut": len(shown) > MAX_LINES,
        "xml": row["XML"][:SHOWN_CHARS],
        "xml_left": max(0, len(row["XML"]) - SHOWN_CHARS),
    }
