"""The history suite on Elasticsearch's client against a stand-in; no live cluster is part of the tests."""

from collections.abc import Iterator

import pytest

from msgx_adapters.history_elasticsearch import ElasticHistory
from msgx_core.testing.history_contract import HistoryContract
from services.elastic import Elastic, elastic


@pytest.fixture
def server() -> Iterator[Elastic]:
    with elastic() as made:
        yield made


@pytest.fixture
def history(server: Elastic) -> Iterator[ElasticHistory]:
    made = ElasticHistory.open(server.url, timeout_s=2.0)
    yield made
    made.close()


class TestElasticHistory(HistoryContract):
    pass
