"""The servers that are measured: private ones, on the disk, with everything durable that they say is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from attrs import frozen

from bench.frame.databases import Databases
from bench.frame.machine import filesystem, is_in_memory
from services.kafka import MockCluster, mock_cluster
from services.mysql import PrivateMysql, private_mysql
from services.postgres import PrivatePostgres, private_postgres
from services.redis import PrivateRedis, private_redis

TOPICS = ("KAFKA_MSG", "KAFKA_SCHD")

POSTGRES_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "512MB",
    "max_connections": "300",
    # A checkpoint in one half of a pair and not in the other says nothing about either.
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "shared_preload_libraries": "pg_stat_statements",
}
_MYSQL_OPTIONS = ("--innodb-flush-log-at-trx-commit=1",)


class NotMeasurable(Exception):
    """This machine cannot tell what is asked; the text says what to change."""


@frozen
class Servers:
    """All four of an airport, empty; `databases` makes databases in PostgreSQL."""

    postgres: PrivatePostgres
    mysql: PrivateMysql
    redis: PrivateRedis
    kafka: MockCluster
    databases: Databases


@contextmanager
def private_servers() -> Iterator[Servers]:
    """Start them under the temporary folder (`TMPDIR`). `NotMeasurable` where that is memory."""
    folder = Path(tempfile.gettempdir())
    if is_in_memory(folder):
        why = f"the temporary folder is {filesystem(folder)}, nothing there is durable: set TMPDIR to a disk"
        raise NotMeasurable(why)
    with ExitStack() as keep:
        postgres = keep.enter_context(private_postgres(POSTGRES_SETTINGS))
        mysql = _mysql(keep)
        redis = keep.enter_context(private_redis())
        kafka = keep.enter_context(mock_cluster())
        for topic in TOPICS:
            kafka.create(topic)
        yield Servers(postgres, mysql, redis, kafka, Databases(postgres.url))


def _mysql(keep: ExitStack) -> PrivateMysql:
    """MariaDB; where a test would be skipped, nothing can be measured."""
    try:
        return keep.enter_context(private_mysql(*_MYSQL_OPTIONS))
    except (pytest.skip.Exception, pytest.fail.Exception) as why:
        raise NotMeasurable(str(why)) from why
