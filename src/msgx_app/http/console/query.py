"""What stands in the query of a page's address, checked."""

from __future__ import annotations

from collections.abc import Collection

from attrs import frozen

from msgx_app.http.parameters import MAX_ID, MIN_ID
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest


@frozen
class Query:
    """Values by name; an empty one is none, as forms send those that nobody filled in."""

    values: dict[str, str]
    here: str

    @classmethod
    def of(cls, request: AnyRequest) -> Query:
        """That of a request."""
        text = request.scope["query_string"].decode("latin-1")
        here = request.scope["path"] + (f"?{text}" if text else "")
        return cls(dict(request.query_params.items()), here)

    def text(self, name: str, most: int = 200) -> str | None:
        """A text without the blanks around it. Raises `Problem`, as `exact` does."""
        value = self.exact(name, most)
        return None if value is None else value.strip() or None

    def exact(self, name: str, most: int = 200) -> str | None:
        """A text as it is. Raises `Problem` when it is too long, or what no database can hold."""
        value = self.values.get(name) or None
        if value is not None and len(value) > most:
            raise Problem(422, f"{name}: at most {most} characters")
        if value is not None and "\x00" in value:
            raise Problem(422, f"{name}: a text without the character 0")
        return value

    def choice(self, name: str, legal: Collection[str]) -> str | None:
        """One of a closed list, whatever its case. Raises `Problem`."""
        value = self.text(name)
        found = None if value is None else next((each for each in legal if each.lower() == value.lower()), "")
        if found == "":
            raise Problem(422, f"{name}: one of {', '.join(legal)}")
        return found

    def id(self, name: str, least: int = MIN_ID) -> int | None:
        """A whole number. Raises `Problem`."""
        value = self.text(name, 20)
        if value is None:
            return None
        try:
            number = int(value)
        except ValueError:
            raise Problem(422, f"{name}: {value!r} is no number") from None
        if not least <= number <= MAX_ID:
            raise Problem(422, f"{name}: a number from {least} to {MAX_ID}")
        return number

    def has(self, name: str) -> bool:
        """Whether it is said."""
        return bool(self.values.get(name, "").strip())
