"""The live board: one screen of rich, for 80 columns and more."""

from __future__ import annotations

from rich.box import ROUNDED
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from msgx_app.cli.output import clean
from msgx_app.daemon import Phase
from msgx_app.demo.look import Look

_TONES = {"good": "green", "active": "bold yellow", "late": "yellow", "bad": "bold red", "done": "dim"}
_STATES = {"SUCCEEDED": "green", "SKIPPED": "cyan", "DEAD": "bold red"}
_ROOMY = 96
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()


class Board:
    """Renders a `Look` to the size of the console it is shown on."""

    def __init__(self, look: Look, *, title: str) -> None:
        self._look = look
        self._title = title

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or console.height
        roomy = options.max_width >= _ROOMY
        news = max(4, min(10, height // 4))
        layout = Layout()
        layout.split_column(
            Layout(self._header(options.max_width), size=1),
            Layout(name="middle"),
            Layout(self._news(news - 2, roomy=roomy), size=news),
        )
        layout["middle"].split_row(
            Layout(self._flights(height - news - 4, roomy=roomy), ratio=1),
            Layout(self._numbers(height - news - 3), size=36 if roomy else 28),
        )
        yield layout

    def _header(self, width: int) -> Text:
        now = self._look.now
        left = f" {self._title}  {now.day:02d} {_MONTHS[now.month - 1]} {now:%H:%M}"
        right = "Ctrl-C ends, everything stays on disk "
        if len(left) + len(right) + 2 > width:
            right = "Ctrl-C ends "
        return Text(f"{left:<{max(0, width - len(right))}}{right}", style="bold white on blue", no_wrap=True)

    def _flights(self, rows: int, *, roomy: bool) -> Panel:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
        for name in ("Time", "Now", "Flight", "Route", "Gate", "Stand"):
            if name != "Stand" or roomy:
                table.add_column(name, no_wrap=True)
        table.add_column("Status", no_wrap=True, ratio=1, overflow="ellipsis")
        for line in self._look.lines[: max(0, rows)]:
            tone = _TONES.get(line.tone, "")
            faint = "dim" if line.tone == "done" else ""
            texts = [line.planned, line.expected, line.flight, line.route, line.place]
            cells = [Text(clean(text), style=faint) for text in (*texts, *((line.stand,) if roomy else ()))]
            cells[1].stylize("yellow" if line.tone == "late" else "")
            table.add_row(*cells, Text(clean(line.status), style=tone))
        empty = Text("waiting for the schedule", style="dim")
        body = table if self._look.lines else empty
        return Panel(body, title="Flights", title_align="left", box=ROUNDED, border_style="blue")

    def _numbers(self, rows: int) -> Panel:
        look, counts = self._look, self._look.counts
        grid = Table.grid(padding=(0, 1), expand=True)
        grid.add_column(no_wrap=True)
        grid.add_column(justify="right", no_wrap=True, ratio=1)
        grid.add_row("sent", f"{look.sent} of {look.total}")
        for state, style in _STATES.items():
            grid.add_row(Text(state.lower(), style=style), str(counts.messages.get(state, 0)))
        head = "none waits" if look.head_age_s is None else f"{look.head_age_s:.1f} s old"
        grid.add_row("head", head)
        grid.add_row("marks owed", str(counts.writeback_pending))
        for target, name in (("KAFKA:msg", "msg"), ("KAFKA:schd", "schd")):
            statuses = counts.events.get(target, {})
            grid.add_row(f"{name} sent", f"{statuses.get('SENT', 0)}, {statuses.get('PENDING', 0)} due")
        grid.add_row("flights", str(counts.flights.get("ACTIVE", 0)))
        grid.add_row("alerts", Text(str(counts.alerts_open), style="yellow" if counts.alerts_open else ""))
        for outage in look.outages:
            grid.add_row(Text(f"{outage.service} down", style="bold red"), str(outage.failures))
        if look.phase.phase is not Phase.ACTIVE:
            grid.add_row(Text(look.phase.phase.value.lower(), style="yellow"), look.phase.detail)
        bar = Table.grid(expand=True)
        bar.add_row(ProgressBar(total=max(1, look.total), completed=look.finished))
        body = Group(bar, grid, self._dead_letters(rows - grid.row_count - 2))
        return Panel(body, title="Messages", title_align="left", box=ROUNDED, border_style="blue")

    def _dead_letters(self, rows: int) -> Table:
        grid = Table.grid(padding=(0, 1), expand=True)
        grid.add_column(no_wrap=True, ratio=1, overflow="ellipsis")
        grid.add_column(justify="right", no_wrap=True)
        ranked = sorted(self._look.reasons.items(), key=lambda item: (-item[1], item[0]))
        if ranked and rows > 1:
            grid.add_row(Text("dead letters", style="bold red"), "")
            for (_, reason), n in ranked[: rows - 1]:
                grid.add_row(Text(f" {clean(reason)}"), str(n))
        return grid

    def _news(self, rows: int, *, roomy: bool) -> Panel:
        table = Table.grid(padding=(0, 1), expand=True)
        for _ in range(3):
            table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, ratio=1, overflow="ellipsis")
        for news in self._look.news[-rows:]:
            state = news.state if roomy else news.state[:4]
            table.add_row(
                Text(f"#{news.msg_id}", style="dim"),
                clean(news.kind),
                Text(state.lower(), style=_STATES.get(news.state, "")),
                Text(clean(news.text)),
            )
        return Panel(table, title="Last messages", title_align="left", box=ROUNDED, border_style="blue")
