"""Where the demonstration answers: the address that was asked for, or any port beside a taken one."""

from __future__ import annotations

import socket

from attrs import evolve

from msgx_app.settings import Settings
from msgx_app.settings.network import Bind


def with_address(settings: Settings, wanted: Bind | None) -> Settings:
    """The settings with an address that is free now."""
    bind = wanted
    if wanted is not None and not _is_free(wanted):
        bind = Bind(wanted.host, 0)
    return evolve(settings, http=evolve(settings.http, bind=bind))


def _is_free(bind: Bind) -> bool:
    family = socket.AF_INET6 if ":" in bind.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind.host, bind.port))
        except OSError:
            return False
    return True
