"""Parameters: name, variable of the environment, default, what is legal and its unit, meaning."""

from __future__ import annotations

from msgx_app.settings import Setting, catalogue
from reference.markdown import code, page, prose, sentence, table

INTRO = """\
A value comes from `--set KEY=VALUE`, else from the environment, else from `msgx.toml`, else it is the
default. `msgx config show` lists the values in force and where each comes from; `msgx config check` finds
what is wrong with them. Durations have their unit behind them: `200ms`, `5s`, `30m`, `48h`, `7d`.
"""


def text() -> str:
    """The page."""
    groups: dict[str, list[Setting]] = {}
    for setting in catalogue().values():
        groups.setdefault(setting.key.rpartition(".")[0], []).append(setting)
    parts = [INTRO]
    for group, settings in groups.items():
        heads = ("parameter", "environment", "default", "legal values, unit", "meaning")
        parts += [f"## {group}\n", table(heads, map(_row, settings))]
    return page("Parameters", *parts)


def _row(setting: Setting) -> tuple[str, ...]:
    spec = setting.spec
    default = setting.default_text
    follows = spec.follow is not None or spec.default is None
    meaning = sentence(spec.meaning) + (" Never shown." if spec.secret else "")
    return (
        code(setting.key),
        code(setting.env),
        prose(default) if follows else code(default),
        prose(spec.kind.legal),
        meaning,
    )
