"""A daemon on the real set while messages keep coming and a server is not well, and what holds after it."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

from attrs import define, field

from real_set import RealSet
from services.base import wait_until
from services.mysql import RIGHTS, connect
from wire import flop, gate

INSERT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())"
FLIGHTS = 8
PAUSE_S = 0.02

Again = Callable[[], object]


@define
class Load:
    """Changes of a few flights, one after the other, as long as it lasts; cumulative over several faults."""

    real: RealSet
    account: str = field(init=False)
    gates: dict[int, list[str]] = field(factory=lambda: defaultdict(list), init=False)
    _sent: int = field(default=0, init=False)
    _met: Counter[str] = field(factory=Counter, init=False)

    def __attrs_post_init__(self) -> None:
        self.account = self.real.mailbox.user(*RIGHTS)

    @contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[bytes]]:
        """A daemon with an account of its own at the mailbox."""
        with self.real.daemon(MSGX_MAILBOX_URL=self.account) as process:
            yield process

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Messages come in meanwhile, from a connection of upstream's own."""
        self._met = self._outages()
        with beside(self._one_more, PAUSE_S):
            yield

    def _one_more(self) -> None:
        self._sent += 1
        flid, name = 100 + self._sent % FLIGHTS, f"G{self._sent}"
        with closing(connect(self.real.mailbox.url)) as upstream, closing(upstream.cursor()) as cursor:
            cursor.execute(INSERT, (flop(flid, "GTDT", gate(name)).decode(),))
        self.gates[flid].append(name)

    def is_noticed(self, service: str) -> None:
        """The daemon names that service as not answering, since messages have been coming."""
        missing = f"an outage of {service} was not noticed"
        wait_until(lambda: self._outages()[service] > self._met[service], missing, 20)

    def _outages(self) -> Counter[str]:
        return Counter(line["service"] for line in self.real.log() if line.get("event") == "outage")

    def check(self) -> None:
        """All is through: nothing lost, doubled, counted or out of order, whatever a server did (D-04)."""
        real = self.real
        real.wait_idle(60)
        total = sum(map(len, self.gates.values()))
        rows = real.sql("SELECT STATE, ATTEMPTS, COUNT(*) AS N FROM PROC_STATE GROUP BY STATE, ATTEMPTS")
        assert [(row["STATE"], row["ATTEMPTS"], row["N"]) for row in rows] == [("SUCCEEDED", 0, total)]
        events = real.sql("SELECT STATUS, ATTEMPTS FROM MSG_EVENT GROUP BY STATUS, ATTEMPTS")
        assert [(row["STATUS"], row["ATTEMPTS"]) for row in events] == [("SENT", 0)]
        versions = real.sql("SELECT FLID, STATE_VERSION FROM FLIGHT_SCHD")
        assert {r["FLID"]: r["STATE_VERSION"] for r in versions} == {f: len(g) for f, g in self.gates.items()}
        self._last_gate_everywhere()
        self._topic_in_order(total)

    def _last_gate_everywhere(self) -> None:
        stored = self.real.sql("SELECT FLID, GATE FROM FLIGHT_GATE")
        last = {flid: gates[-1] for flid, gates in self.gates.items()}
        assert {row["FLID"]: row["GATE"] for row in stored} == last
        client = self.real.redis.client()
        cached = {flid: json.loads(client.get(f"msgx:flight:{flid}") or "{}") for flid in last}
        assert {flid: found["GTDT"][0]["GATE"] for flid, found in cached.items()} == last

    def _topic_in_order(self, total: int) -> None:
        """Every notice is there; per flight, what is new comes in the order of `EVENT_ID` (R-350)."""
        seen: dict[str | None, list[int]] = defaultdict(list)
        for key, value in self.real.topic("KAFKA_MSG"):
            if value["EVENT_ID"] not in seen[key]:
                seen[key].append(value["EVENT_ID"])
        assert all(ids == sorted(ids) for ids in seen.values())
        assert Counter(i for ids in seen.values() for i in ids) == Counter(range(1, total + 1))


@contextmanager
def beside(work: Again, pause_s: float) -> Iterator[None]:
    """Do something again and again in a thread while the context lasts; it must not fail."""
    stop, problems = threading.Event(), list[BaseException]()

    def loop() -> None:
        try:
            while not stop.wait(pause_s):
                work()
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
    assert not problems, problems


def for_a_while(work: Again, seconds: float, pause_s: float = 0.05) -> int:
    """Do something again and again, failures of its own included; how often it was done."""
    ends_at, done = time.monotonic() + seconds, 0
    while time.monotonic() < ends_at:
        with suppress(Exception):
            work()
            done += 1
        time.sleep(pause_s)
    return done
