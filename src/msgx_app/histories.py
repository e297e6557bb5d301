"""From `msgx.history.url` to a history store (D-33); beside `backends`, as it grew too long."""

from __future__ import annotations

from msgx_app.settings import Settings
from msgx_core.errors import ConfigError
from msgx_core.ports import History


def open_history(settings: Settings) -> History | None:
    """The history store of the settings; None: there is none, and no flight is ever removed.

    Raises `ConfigError` for a package that is missing or a folder that cannot be made.
    """
    url = settings.history.url
    if url is None:
        return None
    timeout_s = settings.timeouts.history.total_seconds()
    if url.path is not None:
        from msgx_adapters.history_file import FileHistory

        return FileHistory(url.path, timeout_s=timeout_s)
    try:
        from msgx_adapters.history_elasticsearch import ElasticHistory
    except ModuleNotFoundError as error:
        raise ConfigError(
            (f"msgx.history.url = {url} needs the package {error.name}: pip install 'msgx[history]'",)
        ) from error
    return ElasticHistory.open(url.text, timeout_s=timeout_s)
