"""`msgx status`: what an operator at night needs first."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from msgx_app.cli import output
from msgx_app.cli.errors import EXIT_SERVICE, Exiting
from msgx_app.cli.options import Common, command
from msgx_app.cli.times import age_text


@command("msgx status", "msgx status --json")
def status(common: Common) -> None:
    """Head and its age, counts, write-back, outbox, requests, alerts, lease, and each service's health.

    Prints what is known also when a service does not answer, or the instance at work cannot use it though it
    answers; names it, and exits with 4.
    """
    from msgx_app import backends
    from msgx_app.answers.services import ask_all
    from msgx_app.answers.status import gather
    from msgx_app.cli.errors import exit_code_of

    settings = common.load().settings
    clock = backends.system_clock()
    with ExitStack() as opened:
        asked = ask_all(settings, clock, opened)
        found = gather(asked, clock.now())
    if common.as_json:
        output.print_json(found)
    else:
        print_status(found)
    code = EXIT_SERVICE if any("OUTAGE" in row for row in found["SERVICES"]) else exit_code_of(asked.answers)
    if code:
        raise Exiting(code)


def print_status(found: dict[str, Any]) -> None:
    """The same for people."""
    if "MESSAGES" in found:
        output.print_facts(_facts(found), title="msgx")
    rows = [{**row, "OUTAGE": _outage_text(row.get("OUTAGE"))} for row in found["SERVICES"]]
    columns = ["SERVICE", "OK", "URL", "ERROR", *(["OUTAGE"] if any(row["OUTAGE"] for row in rows) else [])]
    output.print_rows(rows, columns, empty="")
    for alert in found.get("OUTAGES", ()):
        since, until = output.people(alert["SINCE"]), output.people(alert["ENDED_AT"])
        over = f", over at {until}" if until else ""
        output.note(f"outage at {since}{over}, not acknowledged: {alert['DETAIL']}")
    for row in rows:
        if row.get("ERROR"):
            output.note(f"the {row['SERVICE']} cannot be used: {row['ERROR']}")
        if row["OUTAGE"]:
            output.note(f"{found['LEASE']['HOLDER']} cannot use the {row['SERVICE']} {row['OUTAGE']}")


def _outage_text(outage: dict[str, Any] | None) -> str | None:
    return None if outage is None else f"since {output.people(outage['SINCE'])}: {outage['DETAIL']}"


def _facts(found: dict[str, Any]) -> list[tuple[str, Any]]:
    lease = found["LEASE"]
    held = f"{lease['HOLDER']} (epoch {lease['EPOCH']}, for {lease['EXPIRES_IN_S']} s)"
    mailbox = found.get("MAILBOX")
    more = "+" if mailbox and mailbox["AT_LEAST"] else ""
    return [
        ("head", _head_text(found["HEAD"])),
        ("messages", _pairs(found["MESSAGES"])),
        ("dead or failed by code", _pairs(found["ERROR_CODES"])),
        ("in the mailbox, not taken in", f"{mailbox['NOT_TAKEN_IN']}{more}" if mailbox else None),
        ("flights", _pairs(found["FLIGHTS"])),
        ("write-back", _pairs(found["WRITEBACK"])),
        *((f"outbox {target}", _pairs(each)) for target, each in found["OUTBOX"].items()),
        *((f"oldest unsent {t}", age_text(each["AGE_S"])) for t, each in found["OLDEST_UNSENT"].items()),
        ("requests open", _requests_text(found["REQUESTS"]["SLOTS"])),
        ("jobs open", _jobs_text(found["JOBS"]["LIST"])),
        ("alerts open", found["ALERTS"]["OPEN"]),
        ("lease", held if lease["HELD"] else "free"),
    ]


def _head_text(head: dict[str, Any] | None) -> str:
    if head is None:
        return "nothing waits"
    text = f"message {head['MSG_ID']} {head['STATE'].value}, taken in {age_text(head['AGE_S'])} ago"
    if head["ATTEMPTS"]:
        why = " ".join(str(head[key]) for key in ("ERROR_CODE", "REASON") if head[key])
        text += f", {head['ATTEMPTS']} attempts, {why}, next {output.people(head['NEXT_ATTEMPT_AT'])}"
    return text


def _requests_text(open_: list[dict[str, Any]]) -> str:
    texts = []
    for row in open_:
        since = output.people(row["SENT_AT"] or row["CREATED_AT"])
        texts.append(
            f"{row['REQUEST_ID']} {row['SLOT'].value} {row['ASKS_FOR']} {row['STATE'].value} {since}"
        )
    return "; ".join(texts) or "none"


def _jobs_text(open_: list[dict[str, Any]]) -> str:
    texts = [
        f"{row['JOB_ID']} {row['KIND'].value} {row['STATE'].value} {output.people(row['CREATED_AT'])}"
        for row in open_
    ]
    return "; ".join(texts) or "none"


def _pairs(counts: dict[str, int]) -> str:
    return "  ".join(f"{name} {n}" for name, n in sorted(counts.items())) or "none"
