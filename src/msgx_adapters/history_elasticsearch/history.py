"""`ElasticHistory`: `_bulk` with a result per item; what has none is not confirmed."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch

from msgx_adapters.history_elasticsearch.documents import Entry, entry, instant_text, template
from msgx_adapters.history_elasticsearch.errors import FORBIDDEN, TOO_LARGE, is_unclear, translated
from msgx_adapters.history_elasticsearch.target import Target
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports import HistoryRecord

MAX_BULK_BYTES = 4_000_000
_REMOVED_AT_ONCE = 5_000
_SILENT_CALLS = 2
"""After so many calls in a row without an answer the cluster is not asked any more."""


class ElasticHistory:
    """Implements `History`. Safe to call from several threads.

    Ids are `FLID-VERSION`, so that writing again replaces. Nothing is retried here: the next sweep does that.
    The index gets its mappings from a template, put once before the first write.
    """

    def __init__(self, client: Elasticsearch, index: str, *, max_bulk_bytes: int = MAX_BULK_BYTES) -> None:
        self._client = client
        self._index = index
        self._max_bulk_bytes = max_bulk_bytes
        self._guard = threading.Lock()
        self._is_described = False
        self._closed = False

    @classmethod
    def open(
        cls, url: str, *, timeout_s: float = 10.0, max_bulk_bytes: int = MAX_BULK_BYTES
    ) -> ElasticHistory:
        """A history store at `elasticsearch://USER:PASSWORD@HOST:9200/INDEX`; nothing is asked yet.

        `timeout_s` bounds each call. `ConfigError` for a URL that cannot be used.
        """
        target = Target.of(url)
        options: dict[str, Any] = {} if target.ca is None else {"ca_certs": target.ca}
        if target.user is not None:
            options["basic_auth"] = (target.user, target.password or "")
        try:
            client = Elasticsearch(
                list(target.nodes),
                request_timeout=timeout_s,
                max_retries=0,
                retry_on_timeout=False,
                **options,
            )
        except (ValueError, OSError) as error:
            raise ConfigError([f"msgx.history.url: {error}"]) from error
        return cls(client, target.index, max_bulk_bytes=max_bulk_bytes)

    def write(self, records: Sequence[HistoryRecord]) -> Collection[int]:
        """Write; the FLIDs whose item came back as written."""
        entries = list(_entries(records))
        if not entries:
            self._answer()
            return set()
        self._describe()
        kept: set[int] = set()
        silent: list[TransportError | ApiError] = []
        answered = False
        for chunk in self._chunks(entries):
            try:
                kept |= self._bulk(chunk)
            except (ApiError, TransportError) as error:
                if not is_unclear(error):
                    silent.append(error)
                    if len(silent) >= _SILENT_CALLS:
                        break
                    continue
            answered = True
            silent.clear()
        if silent and not answered:
            raise translated(silent[-1]) from silent[-1]
        return kept

    def remove_before(self, cutoff: datetime) -> int:
        """Remove records that ended before the cut-off; how many."""
        self._answer()
        query = _ended_before(cutoff)
        removed = 0
        try:
            while True:
                answer = self._client.delete_by_query(
                    index=self._index,
                    query=query,
                    conflicts="proceed",
                    max_docs=_REMOVED_AT_ONCE,
                    ignore_unavailable=True,
                )
                deleted = int(answer.get("deleted", 0))
                removed += deleted
                if deleted < _REMOVED_AT_ONCE:
                    return removed
        except (ApiError, TransportError) as error:
            raise translated(error) from error

    def count_before(self, cutoff: datetime) -> int:
        """How many records ended before the cut-off."""
        self._answer()
        try:
            answer = self._client.count(
                index=self._index, query=_ended_before(cutoff), ignore_unavailable=True
            )
        except (ApiError, TransportError) as error:
            raise translated(error) from error
        found = answer.get("count")
        if not isinstance(found, int):
            raise Transient("history", "it answered without a count")
        return found

    def ping(self) -> None:
        """Return when the cluster answers and knows us, else raise `Transient`."""
        self._answer()
        try:
            self._client.info()
        except (ApiError, TransportError) as error:
            raise translated(error) from error

    def close(self) -> None:
        """Give connections back. Idempotent."""
        with self._guard:
            self._closed = True
        self._client.close()

    def _answer(self) -> None:
        if self._closed:
            raise Transient("history", "closed")

    def _describe(self) -> None:
        self._answer()
        if self._is_described:
            return
        made = template(self._index)
        try:
            self._client.indices.put_index_template(
                name=self._index,
                index_patterns=made["index_patterns"],
                priority=made["priority"],
                template=made["template"],
                meta=made["_meta"],
            )
        except ApiError as error:
            # Without that right the index is its owner's to describe.
            if error.status_code != FORBIDDEN:
                raise translated(error) from error
        except TransportError as error:
            raise translated(error) from error
        self._is_described = True

    def _chunks(self, entries: Sequence[Entry]) -> Iterator[list[Entry]]:
        chunk: list[Entry] = []
        size = 0
        for item in entries:
            if chunk and size + len(item.lines) > self._max_bulk_bytes:
                yield chunk
                chunk, size = [], 0
            chunk.append(item)
            size += len(item.lines)
        yield chunk

    def _bulk(self, chunk: Sequence[Entry]) -> set[int]:
        lines: list[Any] = [item.lines for item in chunk]
        try:
            answer = self._client.bulk(index=self._index, operations=lines)
        except ApiError as error:
            if error.status_code != TOO_LARGE:
                raise
            # One that is too large for the cluster must not keep the others.
            return set() if len(chunk) == 1 else set().union(*(self._bulk([item]) for item in chunk))
        written = _written(answer.body)
        return {item.flid for item in chunk if item.id in written}


def _ended_before(cutoff: datetime) -> dict[str, Any]:
    return {"range": {"ENDED_AT": {"lt": instant_text(cutoff)}}}


def _entries(records: Sequence[HistoryRecord]) -> Iterator[Entry]:
    for record in records:
        try:
            yield entry(record)
        except (ValueError, UnicodeError):
            continue


def _written(body: object) -> set[str]:
    """Ids whose item says that it is kept; any other shape says nothing."""
    items = body.get("items") if isinstance(body, Mapping) else None
    found: set[str] = set()
    for item in items if isinstance(items, list) else ():
        result = item.get("index") if isinstance(item, Mapping) else None
        if not isinstance(result, Mapping) or "error" in result:
            continue
        if result.get("status") in (200, 201) and isinstance(result.get("_id"), str):
            found.add(result["_id"])
    return found
