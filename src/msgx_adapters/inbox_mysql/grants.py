"""The rights of msgx in the mailbox database, with the owner's names filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

from msgx_adapters.mysql_link import Target, quoted

_PLACES = re.compile(
    r"'msgx'@|CMINMSGS_DATE_PROCESSED\b|CMINMSGS_ID\b|\bmailbox\.CMINMSGS\b|\bmailbox\.COUTMSGS\b"
)


def grants_sql(url: str, *, inbound: str, outbound: str, inbound_id: str, processed: str) -> str:
    """What the owner of the mailbox at `url` runs for msgx; the password is to be put in by hand.

    Raises `ConfigError` for a URL or a name that is none.
    """
    arguments = Target.of(url).arguments
    names = quoted(
        {
            "mailbox.CMINMSGS": ("msgx.mailbox.table.inbound", _qualified(arguments["database"], inbound)),
            "mailbox.COUTMSGS": ("msgx.mailbox.table.outbound", _qualified(arguments["database"], outbound)),
            "CMINMSGS_ID": ("msgx.mailbox.column.inbound-id", inbound_id),
            "CMINMSGS_DATE_PROCESSED": ("msgx.mailbox.column.inbound-processed", processed),
        }
    )
    user = (arguments["user"] or "msgx").replace("\\", "\\\\").replace("'", "\\'")
    places: Mapping[str, str] = {**names, "'msgx'@": f"'{user}'@"}
    text = files(__package__).joinpath("grants.sql").read_text(encoding="utf-8")
    return _PLACES.sub(lambda match: places[match[0]], text)


def _qualified(database: str, table: str) -> str:
    return table if "." in table else f"{database}.{table}"
