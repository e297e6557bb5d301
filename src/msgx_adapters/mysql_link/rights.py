"""At the start: may we do what we must? The very statements are tried, in a form that changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from attrs import frozen

from msgx_core.errors import ConfigError, MsgxError, Rejected, Transient

from .errors import Forbidden, server_code
from .link import Link
from .session import Session
from .statements import filled, quoted
from .target import Target

LONG_AGO = "1000-01-01 00:00:00.000000"
"""A permit that is over: the server checks the rights of the statement and does nothing."""

_READ_ONLY = frozenset({1290, 1836, 1036, 1792})


@frozen
class Table:
    """A table of the owner's by its setting, where it is, and how to ask there who we are."""

    link: Link
    target: Target
    setting: str
    name: str

    def lacks(self, right: str, error: MsgxError) -> ConfigError:
        """The problem that names user, place, right and the statement that grants it.

        `right` stands in it as in a `GRANT`.
        """
        database = self.target.arguments["database"]
        full = self.name if "." in self.name else f"{database}.{self.name}"
        where = quoted({"table": (self.setting, full)})["table"]
        user, detail = self._user(), getattr(error, "detail", error)
        who = f"the mailbox user {user} on {self.target.name} needs {right} on it"
        grant = f"GRANT {right} ON {where} TO {user}"
        return ConfigError([f"{self.setting} = {self.name}: {who}; its owner runs: {grant} ({detail})"])

    def tried(self, right: str, work: Callable[[Session], object]) -> None:
        """Do work that changes nothing; `ConfigError` when a right, or the value of a column, is missing.

        A server that takes no writes at the moment says nothing about rights: that is an outage, later.
        """
        try:
            self.link.run(work, again=True)
        except Forbidden as error:
            raise self.lacks(right, error) from error
        except Rejected as error:
            text = f"{self.setting} = {self.name}: it cannot be written as it has to be ({error.detail})"
            raise ConfigError([text]) from error
        except Transient as error:
            if server_code(error) not in _READ_ONLY:
                raise

    def _user(self) -> str:
        """The account that the server takes us for, as it stands in a `GRANT`."""
        name, host = self.target.arguments["user"], "%"
        with suppress(MsgxError):
            found = self.link.run(lambda session: session.run(filled(__package__, "whoami")), again=True)
            name, _, host = (found.rows[0][0] or b"").decode().rpartition("@")
        return "@".join("'" + part.replace("\\", "\\\\").replace("'", "\\'") + "'" for part in (name, host))
