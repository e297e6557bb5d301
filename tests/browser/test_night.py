"""On night duty with the console alone: for each trouble the page names the cause and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browser import Tab, tab
from http_room import Room, http_room, settings_of
from msgx_app.answers.advice import Remedy, load_advice
from msgx_core.errors import Rejected
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import AbandonReason
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports.operations import Audit
from processes import wait_for
from wire import flop, fltr, gate, reference, schedule

ADVICE = load_advice()


@pytest.fixture
def room() -> Iterator[Room]:
    """A quiet night: two flights, nothing wrong."""
    with http_room(settings_of(pipeline_backfill_interval="1h")) as made:
        made.finish(schedule("DNLD", [fltr(700101), fltr(700102)]))
        yield made


@pytest.fixture
def look(chrome: Browser, room: Room) -> Iterator[Tab]:
    """The console, opened before anything happens: it has to tell by itself."""
    with tab(chrome, str(room.client.base_url)) as opened:
        opened.page.goto("/console")
        opened.waits_for("All is well")
        yield opened


def advice(kind: str, name: str, language: str = "en") -> Remedy:
    found = ADVICE.of(kind, name, language)
    assert found is not None
    return found


def sees(look: Tab, kind: str, name: str, *facts: str) -> None:
    """A situation on the overview, with what is wrong, why, what to do, and the words of the service."""
    said = advice(kind, name)
    situation = look.page.locator(".situation", has_text=said.title)
    situation.wait_for()
    for text in (said.cause, said.remedy, *facts):
        expect(situation).to_contain_text(text)
    expect(look.page.locator("main")).not_to_contain_text("All is well")


@pytest.mark.parametrize("service", ["cache", "bus", "mailbox"])
def test_a_service_is_down(room: Room, look: Tab, service: str) -> None:
    """Redis, Kafka, the mailbox: named with what it says and since when; and when it is back, all is well."""
    container: Any = room.daemon.container
    part = {"cache": container.cache, "bus": container.bus, "mailbox": container.inbox}[service]
    if service != "mailbox":
        part.outage = "Connection refused"
        container.inbox.send(flop(700101, "GTDT", gate("B1"), seqn=900))
    else:
        part.outage = "Connection refused"
    sees(look, "service", service, "Connection refused", "Since")
    row = look.page.get_by_role("row", name=service.capitalize())
    expect(row).to_contain_text("DOWN")
    part.outage = None
    expect(look.page.locator(".situation", has_text=advice("service", service).title)).to_have_count(0)


def test_a_stuck_head(room: Room, look: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which message, its reason, its attempts and the next one; a click leads to it."""

    def refuse(*args: object) -> None:
        raise Rejected("cache-rejected", "OOM command not allowed")

    monkeypatch.setattr(type(room.daemon.container.cache), "write", refuse)
    answer = room.send(flop(700101, "GTDT", gate("B2"), seqn=901))
    msg_id = answer.json()["MSG_ID"]
    sees(look, "situation", "head-stuck", "cache-rejected", "OOM command not allowed")
    expect(look.page.get_by_role("region", name="This instance")).to_contain_text("next attempt")
    look.page.get_by_role("link", name=f"Open message {msg_id}").click()
    look.waits_for(advice("reason", "cache-rejected").remedy)
    monkeypatch.undo()


def test_write_backs_were_abandoned(room: Room, look: Tab) -> None:
    """Why, and the way to resume them, to be done by clicking."""
    now = room.daemon.container.clock.now()
    alert = Alert(AlertCode.TRANSIENT_DEADLINE, 1, detail="lock wait timeout")
    room.store.writeback_abandon(1, AbandonReason.TRANSIENT_DEADLINE, alert, now)
    sees(look, "situation", "writeback-abandoned")
    look.page.locator(".situation").get_by_role("link", name="Write-back").click()
    look.waits_for(advice("alert", "TRANSIENT_DEADLINE").remedy)
    look.page.get_by_label("1", exact=True).check()
    look.page.get_by_label("Reason").fill("the lock is gone")
    look.page.get_by_role("button", name="Resume").click()
    look.waits_for("No write-back was abandoned")


def test_standby_only(chrome: Browser, room: Room) -> None:
    """Nobody at work is told as what it is; and a standby says who is."""
    with http_room(settings_of(), active=False) as alone, tab(chrome, str(alone.client.base_url)) as look:
        alone.send(flop(700101, "GTDT", gate("B1"), seqn=903))
        look.page.goto("/console")
        sees(look, "situation", "no-active", "1")
        expect(look.page.get_by_role("region", name="This instance")).to_contain_text("nobody")
    from msgx_app.daemon.monitor import Phase

    with tab(chrome, str(room.client.base_url)) as look:
        room.daemon.monitor.enter(Phase.STANDBY, "other")
        look.page.goto("/console")
        said = advice("situation", "standby")
        expect(look.page.locator(".situation", has_text=said.title)).to_contain_text(said.remedy)
        expect(look.page.locator("main")).to_contain_text("STANDBY")


def test_a_schedule_with_a_day_conflict(room: Room, look: Tab) -> None:
    """Which flight, which days; the message says it again, and that nothing of it was applied."""
    (msg_id,) = room.finish(schedule("DNLD", [fltr(700101, "15MAR270805")]))
    sees(look, "alert", "SAME_FLID_ACROSS_OPERATION_DAYS", "700101")
    look.page.get_by_role("link", name=f"Open message {msg_id}").click()
    look.waits_for(advice("reason", "SAME_FLID_ACROSS_OPERATION_DAYS").remedy)
    expect(look.page.locator("main")).to_contain_text("2027-03-15")


def test_a_day_conflict_from_the_overview_to_a_new_request(room: Room, look: Tab) -> None:
    """The console alone: what and why in the schedule log, then the day is asked for again, by clicking."""
    (msg_id,) = room.finish(schedule("DNLD", [fltr(700101, "15MAR270805")]))
    said = advice("alert", "SAME_FLID_ACROSS_OPERATION_DAYS")
    situation = look.page.locator(".situation", has_text=said.title)
    situation.get_by_role("link", name="Schedule log").click()
    look.page.wait_for_url("**/console/snapshots?flag=DAY_MISMATCH")
    why = advice("reason", "SAME_FLID_ACROSS_OPERATION_DAYS")
    sees(look, "reason", "SAME_FLID_ACROSS_OPERATION_DAYS", f"Message {msg_id}", "700101", "2027-03-15")
    expect(look.page.get_by_role("row", name="ROLLED_BACK")).to_contain_text("refused whole")
    assert why.remedy.endswith("(Requests).")
    look.page.get_by_role("link", name="Clear").click()
    look.page.get_by_role("link", name="2027-03-14").first.click()
    look.page.get_by_role("link", name="Ask for this day again").click()
    form = look.page.get_by_role("region", name="Ask for the schedule of days")
    expect(form.get_by_label("First day")).to_have_value("2027-03-14")
    form.get_by_label("Reason").fill("day conflict in the push")
    form.get_by_role("button", name="Ask").click()
    look.waits_for("Asked: it is sent within seconds")
    slot = look.page.get_by_role("region", name="Schedule of days", exact=False).first
    expect(slot).to_contain_text("2027-03-14")
    expect(slot).to_contain_text("day conflict in the push")
    expect(slot).to_contain_text("SENT")  # it tells by itself


def test_flights_of_another_day_in_an_answer(room: Room, look: Tab) -> None:
    """The other day conflict: what was asked for one day has a flight of another; refused whole, and told."""
    day = date(2027, 3, 14)
    wanted = Request(
        0,
        RequestSlot.RQFD,
        RequestState.PENDING,
        room.daemon.container.clock.now(),
        first_day=day,
        last_day=day,
    )
    asked = room.store.create_request(wanted, Audit("night", "a test"), wanted.created_at)
    wait_for("it is sent", lambda: room.store.requests(1)[0].state is RequestState.SENT)
    (msg_id,) = room.finish(schedule("RESP", [fltr(700101), fltr(700109, "16MAR270805")]))
    row = room.store.message(msg_id)
    assert row is not None
    look.page.goto("/console/snapshots")
    sees(look, "reason", row["REASON"].partition(":")[0], "700109", f"Message {msg_id}")
    look.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Requests").click()
    expect(look.page.get_by_role("row", name=str(asked.request_id)).first).to_contain_text("SENT")


def test_dead_letters_pile_up(room: Room, look: Tab) -> None:
    """How many, what they have in common, and a dry run of several at once."""
    raw = reference("CLST", "DNLD", ["<CCOD>A1</CCOD><CTML>T1</CTML>"])
    for n in range(12):
        number = b"<SEQN>%d</SEQN>" % (5000 + n)
        head, _, tail = raw.partition(b"<SEQN>")
        room.send(head + number + tail.partition(b"</SEQN>")[2].replace(b"<RECS>1<", b"<RECS>%d<" % (n + 2)))
    wait_for("their ends", lambda: room.store.counts().messages.get("DEAD") == 12)
    sees(look, "situation", "dead-piling", "12")
    failures = look.page.get_by_role("region", name="Failures by cause")
    failures.get_by_role("link", name=advice("reason", "recs-mismatch").title).click()
    look.waits_for(advice("reason", "recs-mismatch").remedy)
    look.page.get_by_label("Choose all").check()
    look.page.get_by_role("button", name="Dry run of what is chosen").click()
    look.waits_for("Nothing has been changed yet.")
    expect(look.page.get_by_role("button", name="Replay 12 now")).to_be_visible()


def test_in_chinese_too(chrome: Browser, room: Room) -> None:
    """The same words from the same place."""
    container: Any = room.daemon.container
    with tab(chrome, str(room.client.base_url), locale="zh-CN") as look:
        look.page.goto("/console")
        look.waits_for("一切正常")
        container.cache.outage = "Connection refused"
        container.inbox.send(flop(700101, "GTDT", gate("B3"), seqn=902))
        said = advice("service", "cache", "zh")
        look.waits_for(said.title)
        look.waits_for(said.remedy)
        container.cache.outage = None
