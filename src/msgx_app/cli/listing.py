"""What the lists without paging share: a limit, and a word when it cut something off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgx_app.answers.replays import result_rows
from msgx_app.cli import output
from msgx_app.cli.options import Common
from msgx_core.ports.operations import OperatorResult, Row

_ALL = 1_000_000_000


def print_list(
    common: Common,
    fetch: Callable[[int], Sequence[Row]],
    columns: Sequence[str],
    *,
    limit: int | None,
    empty: str,
) -> None:
    """Rows of a query that takes a limit."""
    most = output.wanted(limit, as_json=common.as_json)
    rows = output.First(
        fetch(_ALL if most is None else most + 1), most, lambda _: f"ask with a --limit above {most}"
    )
    if common.as_json:
        output.print_json_array(rows)
    else:
        output.print_rows(rows, columns, empty=empty)
    rows.tell()


def print_results(
    common: Common, results: Sequence[OperatorResult], *, key: str, done: str, nothing: str = "nothing to do"
) -> bool:
    """What became of each target of an operator action; True when none was refused."""
    if common.as_json:
        output.print_json_array(result_rows(results, key))
    else:
        for result in results:
            print(f"{result.target}\t{done if result.refused is None else f'refused: {result.refused}'}")
        if not results:
            output.note(nothing)
    return all(result.refused is None for result in results)
