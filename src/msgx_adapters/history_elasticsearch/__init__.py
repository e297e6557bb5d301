"""The history store in an Elasticsearch index (IMP §9.3, D-33)."""

from msgx_adapters.history_elasticsearch.history import ElasticHistory

__all__ = ["ElasticHistory"]
