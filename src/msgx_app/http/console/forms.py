"""What a form sent: read within bounds, and only from a page of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from attrs import frozen

from msgx_app.http.console.door import VISIT
from msgx_app.http.console.visits import Sessions, Visit
from msgx_app.http.parameters import MAX_ID, MAX_IDS, MIN_ID
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest

MARK: Final = "mark"
MAX_FORM_BYTES: Final = 64 * 1024
MAX_REASON: Final = 1000
_KIND = "application/x-www-form-urlencoded"


@frozen
class Form:
    """The fields by name."""

    fields: Mapping[str, Sequence[str]]

    def one(self, name: str, default: str = "") -> str:
        """The last value of a field."""
        return self.fields.get(name, (default,))[-1]

    def ids(self, name: str = "id") -> list[int]:
        """Ids that were chosen, each once. Raises `Problem`: none, too many, or no ids."""
        found = []
        for text in self.fields.get(name, ()):
            if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit() or len(text) > 20:
                raise Problem(422, f"{text[:40]!r} is no id")
            found.append(int(text))
        if not found:
            raise Problem(422, "nothing is chosen")
        if len(found) > MAX_IDS or not all(MIN_ID <= each <= MAX_ID for each in found):
            raise Problem(422, f"at most {MAX_IDS} at once")
        return list(dict.fromkeys(found))

    def reason(self) -> str:
        """Why; kept in the audit. Raises `Problem` when nothing is said."""
        text = self.one("reason").strip()
        if not text:
            raise Problem(422, "say why: the reason is kept in the audit")
        if len(text) > MAX_REASON:
            raise Problem(422, f"the reason has at most {MAX_REASON} characters")
        return text


async def read_form(request: AnyRequest, sessions: Sessions) -> Form:
    """The form of a request that came from a page of ours. Raises `Problem`."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise Problem(415, f"a form is {_KIND}")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise Problem(413, f"a form has at most {MAX_FORM_BYTES} bytes")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=2 * MAX_IDS)
    except ValueError as error:
        raise Problem(400, "the form cannot be read") from error
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    form = Form(fields)
    visit: Visit = request.scope["state"][VISIT]
    if visit.fresh or not sessions.is_marked(visit.key, form.one(MARK)):
        raise Problem(403, "this form is not of this browser's session any more: load the page again")
    return form
