"""The pages of the reference by file name."""

from __future__ import annotations

from reference import alerts, commands, endpoints, events, messages, metrics, parameters, reasons, tables
from reference.markdown import ROOT, page, table

FOLDER = ROOT / "docs" / "reference"

_MADE_BY = {
    "commands.md": ("Commands", "every command with its options", commands.text),
    "parameters.md": ("Parameters", "name, environment variable, default, unit, meaning", parameters.text),
    "metrics.md": ("Metrics", "what Prometheus scrapes", metrics.text),
    "alerts.md": ("Alerts", "what rings, and the rows that wait for a person", alerts.text),
    "reasons.md": ("Reasons and codes", "why a message, a request or an event ended as it did", reasons.text),
    "tables.md": ("Tables and columns", "the store", tables.text),
    "messages.md": ("Messages and tags", "what the AODB sends", messages.text),
    "endpoints.md": ("HTTP endpoints", "addresses, parameters, bodies", endpoints.text),
    "events.md": ("Events", "what consumers read", events.text),
}


def pages() -> dict[str, str]:
    """The text of each page."""
    made = {name: text() for name, (_, _, text) in _MADE_BY.items()}
    rows = [(f"[{title}]({name})", words) for name, (title, words, _) in _MADE_BY.items()]
    return {"index.md": page("Reference", table(("page", "has"), rows)), **made}
