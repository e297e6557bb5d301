"""The way in: a message as it is, into the mailbox (H-80)."""

from __future__ import annotations

from litestar import Response, post

from msgx_app.http.office import Desk
from msgx_app.http.problems import Problem
from msgx_app.http.replies import ANSWER, AnyRequest, GivenOffice, needs, reply
from msgx_app.refusals import Negative
from msgx_core.ports import ApiRole


@post("/cminmsgs/send", guards=[needs(ApiRole.SENDER)], opt={ANSWER: "Sent"}, status_code=202)
async def send_message(request: AnyRequest, office: GivenOffice) -> Response[bytes]:
    """Put a message in the mailbox, byte for byte; its id there. What becomes of it is told under that id."""
    raw = await request.body()
    if not raw.strip():
        raise Problem(422, "the message is empty")

    def send(desk: Desk) -> dict[str, int]:
        if not desk.settings.mailbox.write_enabled:
            raise Negative(
                "refused: msgx.mailbox.write-enabled = false, nothing is written into this mailbox"
            )
        try:
            return {"MSG_ID": desk.inbox.send(raw)}
        except ValueError as error:
            raise Problem(422, f"refused: {error}") from error

    return await reply(office, send, status=202)
