"""The console as a browser without scripts uses it: pages, the mark of forms, cookies."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
from attrs import define, field

from http_room import Room

PAGE = {"Accept": "text/html,application/xhtml+xml", "Accept-Language": "en-GB,en;q=0.9"}
ALL_PAGES = (
    "/console",
    "/console/messages",
    "/console/messages?state=DEAD",
    "/console/alerts",
    "/console/alerts?all=1",
    "/console/jobs",
    "/console/writeback",
    "/console/writeback?owed=1",
    "/console/reference",
    "/console/reference/CLST",
    "/console/reference/RSTA?find=gate",
    "/console/resources",
    "/console/resources?type=GATE&use=closed&at=2027-03-14T06:00",
    "/console/requests",
    "/console/requests?day=2027-03-14&ref=GLST",
    "/console/snapshots",
    "/console/snapshots?day=2027-03-14&flag=DAY_MISMATCH",
    "/console/outbox",
    "/console/outbox?status=DEAD&target=schd",
    "/console/flights",
    "/console/flights?day=2027-03-14",
    "/console/flights?day=none&move=A",
)


@define
class Visitor:
    """One browser."""

    base: str
    cookies: httpx.Cookies = field(factory=httpx.Cookies)

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request; the connection is closed, the cookies stay."""
        with httpx.Client(
            base_url=self.base, cookies=self.cookies, trust_env=False, verify=False, timeout=20.0
        ) as client:
            answer = client.request(method, path, **more)
            self.cookies = client.cookies
        return answer

    def get(self, path: str, **headers: str) -> httpx.Response:
        """An answer, whatever it is; redirects are not followed."""
        return self.ask("GET", path, headers={**PAGE, **headers})

    def page(self, path: str) -> str:
        """A good page."""
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.status_code, text_of(answer.text))
        return answer.text

    def text(self, path: str) -> str:
        """What a person reads on it."""
        return text_of(self.page(path))

    def mark(self, path: str = "/console") -> str:
        """What forms carry."""
        found = re.search(r'name="mark" value="([0-9a-f]{64})"', self.get(path).text)
        assert found is not None, path
        return found[1]

    def post(
        self, path: str, fields: dict[str, Any], *, mark: str | None = None, **headers: str
    ) -> httpx.Response:
        """A form as the page at hand would send it."""
        mark = self.mark() if mark is None else mark
        return self.ask("POST", path, data={"mark": mark, **fields}, headers={**PAGE, **headers})


def visitor(room: Room) -> Visitor:
    """A new browser."""
    return Visitor(str(room.client.base_url))


def text_of(page: str) -> str:
    """Words without tags, blanks made one."""
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))
