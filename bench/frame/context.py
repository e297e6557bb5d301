"""What a benchmark is given: sizes, servers, messages. They are made when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from bench.frame.prepared import Prepared, prepare
from bench.frame.servers import Servers, private_servers
from bench.frame.sizes import Sizes
from bench.frame.stock import Stock


class Context:
    """One run of the benchmarks. `folder` is for files of this run; `keep` closes what was opened."""

    def __init__(self, sizes: Sizes, folder: Path, keep: ExitStack, say: Callable[[str], None]) -> None:
        self.sizes = sizes
        self.folder = folder
        self.say = say
        self._keep = keep

    @cached_property
    def servers(self) -> Servers:
        """The private servers."""
        self.say("starting PostgreSQL, MariaDB, Redis and the Kafka mock")
        return self._keep.enter_context(private_servers())

    @cached_property
    def stock(self) -> Stock:
        """The simulator's messages."""
        return Stock.of(self.sizes.flights)

    @cached_property
    def prepared(self) -> Prepared:
        """The databases to begin with."""
        self.say("filling the databases to begin with")
        return prepare(self.servers, self.stock, self.sizes.messages)
