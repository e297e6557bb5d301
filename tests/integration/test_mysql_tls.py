"""TLS to the MySQL mailbox: options of the URL reach the driver, and nothing falls back to the clear."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters.inbox_mysql import MysqlInbox
from msgx_core.errors import Transient
from msgx_core.testing.clock import ManualClock
from services.base import private_folder, unavailable, unprivileged
from services.mysql import RIGHTS, Database, database_on, private_mysql, user_in

ZONE = ZoneInfo("Asia/Shanghai")


def certificate(folder: Path, name: str) -> None:
    """A self-signed certificate for 127.0.0.1."""
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                f"/CN={name}",
            ),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/{name}.key"),
            *("-out", f"{folder}/{name}.pem"),
        ],
        check=True,
        capture_output=True,
    )
    (folder / f"{name}.key").chmod(0o644)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    if not shutil.which("openssl"):
        unavailable("TLS", "openssl is not installed")
    with private_folder() as folder:
        folder.chmod(0o755)
        certificate(folder, "server")
        certificate(folder, "other")
        yield folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Database]:
    unprivileged("mysql")
    with ExitStack() as keep:
        options = (f"--ssl-cert={folder}/server.pem", f"--ssl-key={folder}/server.key")
        private = keep.enter_context(private_mysql(*options))
        yield keep.enter_context(database_on(private.url))


def opened(url: str) -> MysqlInbox:
    return MysqlInbox.open(url, zone=ZONE, clock=ManualClock(datetime(2021, 1, 23, tzinfo=UTC)))


def secret_user(server: Database) -> str:
    """A user who comes in encrypted or not at all."""
    url = server.user(*RIGHTS)
    server.run(f"ALTER USER {user_in(url)} REQUIRE SSL")
    return url


@pytest.mark.filterwarnings("ignore:ssl:DeprecationWarning")  # the driver, when versions are named
def test_a_known_server_is_talked_to_in_secret(server: Database, folder: Path) -> None:
    url = secret_user(server)
    ca = f"ssl_ca={folder}/server.pem"
    for options in ("", ca, f"{ca}&ssl_verify_identity=true", f"{ca}&tls_versions=TLSv1.3"):
        with closing(opened(f"{url}?{options}")) as inbox:
            inbox.ping()
    with pytest.raises(Transient, match="1045"):
        opened(f"{url}?ssl_disabled=true")


def test_somebody_else_is_refused(server: Database, folder: Path) -> None:
    """A CA is there to be checked, also when nobody wrote `ssl_verify_cert`."""
    url = server.user(*RIGHTS)
    with pytest.raises(Transient, match="CERTIFICATE_VERIFY_FAILED"):
        opened(f"{url}?ssl_ca={folder}/other.pem")


def test_a_server_without_tls_is_refused(folder: Path) -> None:
    with private_mysql("--skip-ssl") as private, database_on(private.url) as plain:
        url = plain.user(*RIGHTS)
        opened(url).close()
        for options in (f"ssl_ca={folder}/server.pem", "ssl_verify_cert=true", "ssl_verify_identity=true"):
            with pytest.raises(Transient, match="SSL is required"):
                opened(f"{url}?{options}")
