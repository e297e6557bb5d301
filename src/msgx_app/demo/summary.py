"""What a run of the demonstration did, and what to do next."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Mapping

from msgx_app.cli.output import clean
from msgx_app.container import Container
from msgx_app.demo.folder import DemoFolder, commands
from msgx_app.demo.look import all_flights, reason_group
from msgx_core.model.sis import CATEGORIES
from msgx_core.ports.operations import MessageFilter

_PAGE = 500


def summary(container: Container, folder: DemoFolder) -> list[str]:
    """Lines for people, from what is in the store now."""
    store = container.store
    counts = store.counts()
    flights = all_flights(container)
    live = [flight for flight in flights.values() if flight.is_live]
    shares = sum(flight.main_flid is not None for flight in live)
    records = {rtype: len(store.references(rtype)) for rtype in CATEGORIES}
    events = [f"{statuses.get('SENT', 0)} on {target}" for target, statuses in sorted(counts.events.items())]
    unsent = sum(statuses.get("PENDING", 0) for statuses in counts.events.values())
    states = [f"{n} {state}" for state, n in sorted(counts.messages.items(), key=lambda item: -item[1])]
    alerts = Counter(str(row["CODE"]) for row in store.alerts(limit=_PAGE))
    lines = [
        f"messages    {', '.join(states) or 'none'}",
        *_reasons(container),
        f"flights     {len(live)} live ({shares} code shares), {len(flights) - len(live)} deleted",
        f"reference   {sum(records.values())} records in {sum(n > 0 for n in records.values())} categories",
        f"events      {', '.join(events) or 'none'}" + (f"; {unsent} not sent yet" if unsent else ""),
        f"mailbox     {_marks(container)}",
        f"alerts      {_counted(alerts) or 'none'}",
    ]
    busiest = max(live, key=lambda flight: (flight.version, -flight.flid), default=None)
    next_steps = commands(folder, None if busiest is None else busiest.flid)
    return [*lines, "", *_places(folder), "", "Look around:", *(f"  {line}" for line in next_steps)]


def _marks(container: Container) -> str:
    counts = container.store.counts()
    owed, total = counts.writeback_pending, sum(counts.messages.values())
    unfinished = sum(counts.messages.get(state, 0) for state in ("PENDING", "FAILED"))
    done = total - unfinished - owed - counts.writeback_abandoned
    return f"{done} of {total} rows marked as processed"


def _reasons(container: Container) -> list[str]:
    found: dict[str, Counter[str]] = {"SKIPPED": Counter(), "DEAD": Counter()}
    for state, reasons in found.items():
        after: int | None = None
        while rows := container.store.messages(MessageFilter(state=state, after=after, limit=_PAGE)):
            after = rows[-1]["MSG_ID"]
            reasons.update(" ".join([*_code(row), reason_group(row)]) for row in rows)
    return [_wrapped(f"  {state:<9} {_counted(reasons)}") for state, reasons in found.items() if reasons]


def _wrapped(line: str) -> str:
    width = min(100, shutil.get_terminal_size((100, 24)).columns - 1)
    return textwrap.fill(line, width, subsequent_indent=" " * 12, break_on_hyphens=False)


def _code(row: Mapping[str, object]) -> list[str]:
    return [str(row["ERROR_CODE"])] if "ERROR_CODE" in row else []


def _counted(found: Counter[str]) -> str:
    return ", ".join(clean(name) if n == 1 else f"{clean(name)} ({n})" for name, n in found.most_common())


def _places(folder: DemoFolder) -> list[str]:
    at = folder.shown
    return [
        f"Everything is in {at}:",
        f"  {at}/msgx.toml         the configuration",
        f"  {at}/data/mailbox.db   the mailbox, every message as it came",
        f"  {at}/data/store.db     flights, reference data, outbox",
        f"  {at}/data/bus          one file of JSON lines per topic",
    ]
