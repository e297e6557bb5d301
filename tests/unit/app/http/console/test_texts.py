"""Both catalogues have the same texts, and the pages use none that is missing."""

from __future__ import annotations

import string
from collections.abc import Iterator
from importlib.resources import files

import pytest
from jinja2 import nodes

from msgx_app.answers.advice import load_advice
from msgx_app.http.console.render import THEMES, environment
from msgx_app.http.console.table import GROUPS, entries
from msgx_app.http.console.words import LANGUAGES, load_words

WORDS = load_words()
TEMPLATES = sorted(path.name for path in files("msgx_app.http.console").joinpath("templates").iterdir())
SOURCE = environment()


def used() -> Iterator[tuple[str, str]]:
    """Template and key of each text that a template asks for by a constant."""
    for name in TEMPLATES:
        tree = SOURCE.parse((files("msgx_app.http.console") / "templates" / name).read_text("utf-8"))
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "t":
                yield from ((name, key) for key in constants(call.args[0]))


def constants(node: nodes.Expr) -> Iterator[str]:
    """The keys that an expression may be; of `"error." ~ kind` the part that is known, with a star."""
    match node:
        case nodes.Const(value=str() as value):
            yield value
        case nodes.Concat(nodes=parts):
            yield "".join(part.value if isinstance(part, nodes.Const) else "*" for part in parts)
        case nodes.CondExpr(expr1=one, expr2=other):
            yield from constants(one)
            if other is not None:
                yield from constants(other)
        case _:
            raise AssertionError(f"{node}: a text is asked for by a constant, or a constant and a name")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_keys() -> None:
    english, chinese = (set(WORDS[language].texts) for language in LANGUAGES)
    assert english == chinese


@pytest.mark.parametrize("key", sorted(WORDS["en"].texts))
def test_a_text_says_something_and_takes_the_same_values_in_both(key: str) -> None:
    english, chinese = (WORDS[language].texts[key] for language in LANGUAGES)
    assert english.strip()
    assert chinese.strip()
    assert placeholders(english) == placeholders(chinese)


def test_no_template_asks_for_a_text_that_is_missing() -> None:
    asked = list(used())
    assert asked
    texts = set(WORDS["en"].texts)
    absent = []
    for template, key in asked:
        before, star, _ = key.partition("*")
        if key not in texts and not (star and any(each.startswith(before) for each in texts)):
            absent.append((template, key))
    assert absent == []


def test_what_the_navigation_and_the_switches_say_is_there() -> None:
    texts = WORDS["en"].texts
    wanted = [f"nav.{each.name}" for each in entries()] + [f"group.{each}" for each in GROUPS]
    wanted += [f"theme.{each}" for each in THEMES] + [f"language.{each}" for each in LANGUAGES]
    assert [key for key in wanted if key not in texts] == []
    assert {each.group for each in entries()} <= set(GROUPS)


def test_the_advice_is_whole_in_both_languages() -> None:
    advice = load_advice()
    for kind, names in advice.texts.items():
        for name, languages in names.items():
            assert set(languages) == set(LANGUAGES), (kind, name)
            for language, said in languages.items():
                assert {key for key, text in said.items() if text.strip()} == {"title", "cause", "remedy"}, (
                    kind,
                    name,
                    language,
                )


def test_every_template_can_be_compiled() -> None:
    for name in TEMPLATES:
        assert SOURCE.get_template(name).name == name
