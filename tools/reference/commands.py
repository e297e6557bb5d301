"""Commands, their arguments and options, from the command line itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgx_app.cli.app import SECTIONS, command
from reference.markdown import code, page, prose, sentence, table

COMMON = ("--config", "--set", "--json")


def text() -> str:
    """The page."""
    group = command()
    parts = [prose(_without_examples(group.help)[0]) + "\n", _common(group)]
    for title, entries in SECTIONS:
        parts.append(f"## {title}\n")
        for entry in entries:
            found = group.commands[entry.name]
            parts += _command(f"msgx {entry.name}", found)
            for name, below in getattr(found, "commands", {}).items():
                parts += _command(f"msgx {entry.name} {name}", below)
    return page("Commands", *parts)


def _common(group: Any) -> str:
    paragraphs = [f"{prose(paragraph)}\n" for paragraph in _without_examples(group.help)[1:]]
    shared = [p for p in group.commands["status"].params if p.opts[0] in COMMON]
    head = "## Common options\n\nEvery command takes these; they are left out below.\n"
    return "\n".join([*paragraphs, head, _options([*shared, *group.params])])


def _command(words: str, found: Any) -> Iterator[str]:
    arguments = [p for p in found.params if not p.opts[0].startswith("-")]
    options = [p for p in found.params if p.opts[0].startswith("-") and p.opts[0] not in COMMON]
    yield f"### {words}\n"
    for paragraph in _without_examples(found.help):
        yield sentence(paragraph) + "\n"
    yield code(_usage(words, arguments, options)) + "\n"
    if arguments:
        yield table(
            ("argument", "meaning"),
            [
                (code(_value(p)), sentence(p.help) + ("" if p.required else " May be left out."))
                for p in arguments
            ],
        )
    if options:
        yield _options(options)
    examples = _examples(found.help)
    if examples:
        yield "Example: " + ", ".join(map(code, examples)) + "\n"


def _options(options: list[Any]) -> str:
    rows = [(code(_named(p)), _default(p), sentence(p.help)) for p in options]
    return table(("option", "default", "meaning"), rows)


def _usage(words: str, arguments: list[Any], options: list[Any]) -> str:
    needed = [_named(p) for p in options if p.required]
    names = [_value(p) + ("…" if p.nargs == -1 else "") for p in arguments]
    shown = [name if p.required else f"[{name}]" for name, p in zip(names, arguments, strict=True)]
    return " ".join([words, *needed, *(["[OPTIONS]"] if len(options) > len(needed) else []), *shown])


def _named(option: Any) -> str:
    names = "/".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag or option.count else f"{names} {_value(option)}"


def _value(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if option.is_flag or option.default in (None, (), []):
        return ""
    return code(str(getattr(option.default, "value", option.default)))


def _without_examples(text: str) -> list[str]:
    """The paragraphs of a help text."""
    paragraphs = text.replace("\b", "").split("\n\n")
    return [p for p in paragraphs if p.strip() and not p.strip().startswith("Example:")]


def _examples(text: str) -> list[str]:
    (*_, last) = [p.strip() for p in text.replace("\b", "").split("\n\n") if p.strip()]
    return [line.strip() for line in last.splitlines()[1:]] if last.startswith("Example:") else []
