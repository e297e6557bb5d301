"""What consumers are told is what is produced: schemas, AsyncAPI, OpenAPI, and the example consumer."""

from __future__ import annotations

import importlib.util
import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema_rs
import pytest
from attrs import evolve

from embedded import System, closing_system
from msgx_app.http.documents import FILES, text_of
from msgx_app.settings import Settings, load_settings
from msgx_app.simulator import simulate
from msgx_app.simulator.plan import SimulationPlan
from msgx_cli import Msgx
from msgx_core.model.sis import COLLECTIONS, MODEL_TAGS, whitelist
from msgx_core.pipeline.config import PipelineConfig
from msgx_core.rules import schemas
from msgx_core.rules.policy import Policy, TimeFormat
from msgx_core.rules.render import flight_document
from wire import fdel, flop, fltr, gate, schedule

ROOT = Path(__file__).resolve().parents[2]


def closed(schema: Any) -> Any:
    """The schema, letting nothing in that it does not name: what is produced and not described is a fault."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(each) for name, each in schema.items()}
    return {**made, "additionalProperties": False} if "properties" in schema else made


def day(system: System, flights: int = 40) -> None:
    """A day of traffic, and an end of some of it."""
    plan = SimulationPlan(seed=7, day=system.clock.now().date(), airport="KMG", flights=flights)
    system.send(message.raw for message in simulate(plan))
    system.drain()
    flids = [state.flid for state in system.store.flights(state="ACTIVE", limit=5)]
    system.send([fdel(flids[0]), flop(flids[1], "GTDT", gate("B12"))])
    system.drain()


@pytest.fixture(scope="module", params=TimeFormat)
def system(request: pytest.FixtureRequest) -> Iterator[System]:
    policy = evolve(Policy(), time_format=request.param, flop_whitelist=whitelist("extended"))
    with closing_system(None, config=PipelineConfig(policy=policy)) as made:
        day(made)
        yield made


def values(system: System, topic: str) -> list[Any]:
    return [json.loads(record.value) for record in system.bus.records if record.topic == topic]


def test_every_msg_value_is_as_described(system: System) -> None:
    """D-28: notices and tombstones."""
    schema = closed(schemas.document("msg", schemas.notice_schema()))
    validator = jsonschema_rs.validator_for(schema)
    found = values(system, "KAFKA_MSG")
    assert {value["KIND"] for value in found} == {"UPSERT", "DELETE"}
    for value in found:
        validator.validate(value)


def test_every_schd_value_is_as_described(system: System) -> None:
    """D-29, D-30: full states, no null, times in the form that was chosen."""
    schema = closed(schemas.document("schd", schemas.package_schema(system.policy.time_format)))
    validator = jsonschema_rs.validator_for(schema)
    found = values(system, "KAFKA_SCHD")
    assert len(found) > 1
    for value in found:
        validator.validate(value)


def test_every_flight_is_as_described_and_most_tags_were_seen(system: System) -> None:
    """The test means something: the day has values for what the schema names."""
    schema = closed(schemas.document("flight", schemas.flight_schema(system.policy.time_format)))
    validator = jsonschema_rs.validator_for(schema)
    seen: set[str] = set()
    for state in system.store.flights(limit=1000):
        document = flight_document(state, system.policy)
        validator.validate(document)
        seen |= document.keys()
    assert len(seen & {*MODEL_TAGS}) > len(MODEL_TAGS) // 2
    assert seen & {*COLLECTIONS}


def test_wrong_values_are_not_as_described() -> None:
    """A schema that lets everything in would pass the tests above."""
    flight: dict[str, Any] = {"FLID": 1, "STATE": "ACTIVE", "STATE_VERSION": 1, "LAST_MSG_ID": 1}
    flight |= {"UPDATED_AT": "2027-03-14T06:00:00.000000Z"}
    validator = jsonschema_rs.validator_for(schemas.document("flight", schemas.flight_schema()))
    assert validator.is_valid(flight)
    wrong: tuple[dict[str, Any], ...] = (
        {"FLID": "1"},
        {"STATE": "GONE"},
        {"SODT": "2027-03-14"},
        {"GTDT": []},
        {"GTDT": [{}]},
        {"FLNO": None},
        {"PAXC": 5},
    )
    for each in wrong:
        assert not validator.is_valid({**flight, **each}), each
    assert not validator.is_valid({name: value for name, value in flight.items() if name != "FLID"})


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings(None, {}, {"msgx.airport.code": "XXX"}).settings


@pytest.mark.parametrize("name", FILES)
def test_the_committed_documents_are_those_of_the_code(name: str, settings: Settings) -> None:
    """To renew them: `msgx schema --into docs/schemas --set msgx.airport.code=XXX`."""
    assert (ROOT / "docs" / "schemas" / name).read_text(encoding="utf-8") == text_of(name, settings)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".schema.json")])
def test_schemas_are_legal_themselves(name: str, settings: Settings) -> None:
    """By the meta schema of their dialect."""
    jsonschema_rs.meta.validate(json.loads(text_of(name, settings)))


def test_the_async_api_document_holds_together(settings: Settings) -> None:
    """Every reference leads somewhere; both topics are there under their configured names."""
    document = json.loads(text_of("asyncapi.json", settings))
    text = json.dumps(document)
    for reference in text.split('"$ref": "#/')[1:]:
        found: Any = document
        for part in reference.partition('"')[0].split("/"):
            found = found[part]
    assert document["asyncapi"].startswith("3.")
    addresses = {channel["address"] for channel in document["channels"].values()}
    assert addresses == {settings.kafka.topic.msg, settings.kafka.topic.schd}
    for message in document["components"]["messages"].values():
        jsonschema_rs.meta.validate(message["payload"])


def test_schemas_on_the_command_line(tmp_path: Path) -> None:
    """One to standard output, all into a folder; topics as configured."""
    msgx = Msgx(tmp_path)
    more: dict[str, Any] = {"MSGX_AIRPORT_CODE": "KMG", "MSGX_KAFKA_TOPIC_MSG": "flights.changes"}
    assert "flights.changes" in msgx.ok("schema", "asyncapi.json", **more).out
    msgx.ok("schema", "--into", tmp_path / "made", **more)
    assert {path.name for path in (tmp_path / "made").iterdir()} == set(FILES)
    assert msgx("schema", "nothing.json", **more).code == 2
    assert msgx.ok("schema", "--json", **more).json == list(FILES)
    assert msgx("schema", "msg.schema.json", "--into", tmp_path, **more).code == 2


def example() -> ModuleType:
    """`examples/keep_a_copy.py`."""
    spec = importlib.util.spec_from_file_location("keep_a_copy", ROOT / "examples" / "keep_a_copy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(5))
def test_the_example_keeps_a_correct_copy(system: System, seed: int) -> None:
    """Everything twice, in any order: the copy is what the store has."""
    events = [("msg", value) for value in values(system, "KAFKA_MSG")]
    events += [("schd", value) for value in values(system, "KAFKA_SCHD")]
    mixed = events * 2
    random.Random(seed).shuffle(mixed)
    with sqlite3.connect(":memory:") as database:
        copy = example().Copy(database)
        for topic, value in mixed:
            copy.take(topic, value)
        found = copy.flights()
    database.close()
    live = system.store.flights(state="ACTIVE", limit=1000)
    documents = {state.flid: flight_document(state, system.policy) for state in live}
    assert found == {flid: json.loads(json.dumps(document)) for flid, document in documents.items()}


def test_the_example_goes_on_where_it_ended(tmp_path: Path) -> None:
    """On the bus of an embedded installation: nothing twice, half lines left for later."""
    from msgx_cli import put, ready

    msgx = ready(tmp_path)
    put(msgx, schedule("DNLD", [fltr(1), fltr(2)]))
    msgx.ok("drain")
    module, bus = example(), tmp_path / "data" / "bus"
    topics = (("msg", "KAFKA_MSG"), ("schd", "KAFKA_SCHD"))
    database = sqlite3.connect(tmp_path / "copy.db")
    assert module.follow(bus, database, topics) == 3
    assert module.follow(bus, database, topics) == 0
    assert set(module.Copy(database).flights()) == {1, 2}
    put(msgx, fdel(1))
    msgx.ok("drain")
    whole = (bus / "KAFKA_MSG.jsonl").read_bytes()
    (bus / "KAFKA_MSG.jsonl").write_bytes(whole[:-5])
    assert module.follow(bus, database, topics) == 0
    (bus / "KAFKA_MSG.jsonl").write_bytes(whole)
    assert module.follow(bus, database, topics) == 1
    assert set(module.Copy(database).flights()) == {2}
    database.close()
