"""From a template and values to a page: escaped always, in the language and colours of whoever looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import jinja2
from attrs import frozen

from msgx_app.answers.advice import Advice
from msgx_app.answers.schemas import installed_version
from msgx_app.http.access import Principal
from msgx_app.http.console import filters
from msgx_app.http.console.static import StaticFile
from msgx_app.http.console.table import Entry, entries, grouped
from msgx_app.http.console.words import LANGUAGES, TAGS, Words, load_words
from msgx_core.ports import ApiRole, Clock
from msgx_core.rules.policy import Policy

THEMES: Final = ("auto", "light", "dark")


@frozen
class Look:
    """For whom a page is made. `here` is the path with its query; `mark` goes into every form."""

    words: Words
    theme: str
    here: str
    mark: str
    principal: Principal | None = None
    signed_in: bool = False
    badges: Mapping[str, int] = {}
    store_up: bool | None = None
    notice: tuple[str, str] | None = None

    @property
    def may_act(self) -> bool:
        """Whether forms that change something are shown."""
        return self.principal is not None and ApiRole.OPERATOR in self.principal.roles

    @property
    def may_read(self) -> bool:
        """Whether pages, and what counts on them, are theirs to see."""
        return self.principal is not None and ApiRole.READER in self.principal.roles

    @property
    def path(self) -> str:
        """Without the query."""
        return self.here.partition("?")[0]


class Renderer:
    """All templates of the package. Thread-safe."""

    def __init__(
        self,
        policy: Policy,
        clock: Clock,
        static: Mapping[str, StaticFile],
        advice: Advice,
        *,
        airport: str,
    ) -> None:
        self._airport = airport
        self._policy = policy
        self._clock = clock
        self._advice = advice
        self._static = {name: each.address for name, each in static.items()}
        self.words = load_words()
        self.environment = environment()
        self._entries = entries()

    def page(self, template: str, look: Look, values: Mapping[str, Any]) -> bytes:
        """A whole page."""
        now = self._clock.now()
        told = {
            "t": look.words,
            "name": look.words.name,
            "look": look,
            "lang": TAGS[look.words.language],
            "languages": LANGUAGES,
            "themes": THEMES,
            "static": self._static,
            "navigation": grouped(self._entries),
            "current": _current(self._entries, look.path),
            "now": now,
            "airport": self._airport,
            "zone": self._policy.airport_zone,
            "pages": {each.name for each in self._entries},
            "version": installed_version(),
            "advise": lambda kind, key: self._advice.of(kind, key, look.words.language),
            "advise_reason": lambda text: self._advice.of_reason(text, look.words.language),
        }
        text = self.environment.get_template(template).render({**told, **values})
        # A message may hold halves of characters; a page must be UTF-8 whatever it shows.
        return text.encode("utf-8", "replace")


def environment() -> jinja2.Environment:
    """The templates with their filters; what is missing is an error, and everything is escaped."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("msgx_app.http.console", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= filters.FILTERS
    return made


def _current(found: Sequence[Entry], path: str) -> str:
    """The entry of the navigation that a page belongs to: the longest address that begins its own."""
    fits = [each for each in found if path == each.path or path.startswith(f"{each.path}/")]
    return max(fits, key=lambda each: len(each.path)).name if fits else ""
