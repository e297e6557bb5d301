"""What only Elasticsearch does: results per item, unclear answers, time-outs, the template (D-33, D-26)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from time import monotonic

import pytest

from msgx_adapters.history_elasticsearch import ElasticHistory
from msgx_adapters.history_elasticsearch.target import Target
from msgx_core.errors import ConfigError, Transient
from msgx_core.testing.history_contract import record
from services.elastic import Elastic, elastic


@pytest.fixture
def server() -> Iterator[Elastic]:
    with elastic() as made:
        yield made


def opened(server: Elastic, **more: float) -> ElasticHistory:
    return ElasticHistory.open(server.url, timeout_s=0.4, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", [400, 404, 409, 429, 503, "missing"])
def test_an_item_without_a_good_result_is_not_confirmed(server: Elastic, what: int | str) -> None:
    """R-389, D-26: 200 for the call says nothing about its items."""
    server.items[2] = what
    history = opened(server)
    assert set(history.write([record(1), record(2), record(3)])) == {1, 3}
    server.items.clear()
    assert set(history.write([record(2)])) == {2}
    assert len(server.documents) == 3
    history.close()


@pytest.mark.parametrize("whole", ["status:401", "status:429", "status:500", "hang", "cut"])
def test_no_answer_confirms_nothing(server: Elastic, whole: str) -> None:
    """R-390, D-04: an outage, within its time; afterwards it goes on."""
    history = opened(server)
    server.whole = whole
    began = monotonic()
    with pytest.raises(Transient) as caught:
        history.write([record(1)])
    assert caught.value.service == "history"
    assert monotonic() - began < 1.2
    server.whole = None
    assert set(history.write([record(1)])) == {1}
    history.close()


def test_an_unclear_answer_confirms_nothing(server: Elastic) -> None:
    """R-395: 200 with a body that is no answer."""
    history = opened(server)
    history.write([record(9)])
    server.whole = "garbage"
    assert set(history.write([record(1), record(2)])) == set()
    history.close()


def test_a_call_that_hangs_keeps_the_others(server: Elastic) -> None:
    """D-26: large records go in calls of their own; one that gets no answer is unclear, the rest is kept."""
    server.hangs = {2}
    history = opened(server, max_bulk_bytes=300)
    assert set(history.write([record(n, REMC="x" * 200) for n in (1, 2, 3)])) == {1, 3}
    assert (2, 1) in server.records(), "it was written, and nobody told us"
    history.close()


def test_a_silent_cluster_is_not_asked_for_ever(server: Elastic) -> None:
    """Bounded: two calls without an answer are enough."""
    history = opened(server, max_bulk_bytes=300)
    history.write([record(9)])
    server.whole = "hang"
    server.calls.clear()
    with pytest.raises(Transient):
        history.write([record(n, REMC="x" * 200) for n in range(1, 9)])
    assert len(server.calls) == 2
    history.close()


def test_one_that_is_too_large_for_the_cluster_keeps_no_other(server: Elastic) -> None:
    """D-26: 413 for a call is tried again one by one."""
    history = opened(server)
    history.write([record(9)])
    server.whole = "status:413"
    assert set(history.write([record(1), record(2)])) == set()
    assert server.calls.count("PUT /flights/_bulk") == 1 + 3
    history.close()


def test_ids_and_template(server: Elastic) -> None:
    """D-33: `FLID-VERSION`; one template, before the first write, in which any tag fits."""
    history = opened(server)
    history.write([record(7, 3)])
    history.write([record(7, 4)])
    assert server.documents.keys() == {"7-3", "7-4"}
    assert server.calls.count("PUT /_index_template/flights") == 1
    made = server.templates["flights"]
    assert made["index_patterns"] == ["flights"]
    assert made["template"]["mappings"]["properties"]["FLIGHT"]["type"] == "flattened"
    history.close()


def test_an_index_that_its_owner_describes(server: Elastic) -> None:
    """Without the right to put a template msgx writes all the same."""
    server.owned = True
    history = opened(server)
    assert set(history.write([record(1)])) == {1}
    assert server.templates == {}
    history.close()


def test_the_password_is_sent(server: Elastic) -> None:
    """Basic authentication; characters that mean something in a URL are escaped there."""
    url = server.url.replace("://", "://msgx:p%40ss@")
    history = ElasticHistory.open(url, timeout_s=0.4)
    history.ping()
    assert server.authorization == f"Basic {base64.b64encode(b'msgx:p@ss').decode()}"
    history.close()


def test_urls() -> None:
    """Several nodes, a default index, TLS."""
    target = Target.of("elasticsearch://a,b:9201?tls=true")
    assert (target.nodes, target.index) == (("https://a:9200", "https://b:9201"), "msgx-flights")
    assert Target.of("elasticsearch://a/x?ca=/etc/ca.pem").nodes == ("https://a:9200",)


@pytest.mark.parametrize("rest", ["a/UPPER", "a/_x", "a/a b", "a?x=1", "a?tls=maybe", "a/x/y"])
def test_urls_that_cannot_be_used(rest: str) -> None:
    """A configuration error that says what is wrong."""
    with pytest.raises(ConfigError, match=r"msgx\.history\.url"):
        Target.of(f"elasticsearch://{rest}")
