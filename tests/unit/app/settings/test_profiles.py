"""The templates of `msgx init` load without problems."""

from __future__ import annotations

from datetime import time
from pathlib import Path

import pytest

from msgx_app.profiles import PROFILES, render_profile
from msgx_app.settings import ConfigProblems, LoadedSettings, load_settings


def rendered(folder: Path, name: str) -> LoadedSettings:
    path = folder / "msgx.toml"
    path.write_text(render_profile(name, "pvg"), encoding="utf-8")
    return load_settings(path, {}, {})


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_loads(tmp_path: Path, name: str) -> None:
    loaded = rendered(tmp_path, name)
    assert loaded.settings.airport.code == "PVG"
    assert loaded.base_dir == tmp_path


def test_embedded_needs_no_server_and_changes_no_default(tmp_path: Path) -> None:
    loaded = rendered(tmp_path, "embedded")
    archive = loaded.settings.archive
    assert archive.url is not None
    assert archive.url.path == tmp_path / "data/archive"
    (tmp_path / "msgx.toml").write_text('[msgx.airport]\ncode = "PVG"\n', encoding="utf-8")
    assert loaded.settings == load_settings(tmp_path / "msgx.toml", {}, {}).settings


def test_production_uses_the_real_servers(tmp_path: Path) -> None:
    """R-348: mailbox, store, cache and bus; the day in the identity and the daily request are on."""
    settings = rendered(tmp_path, "production").settings
    urls = (settings.mailbox.url, settings.store.url, settings.cache.url, settings.bus.url)
    assert [url.scheme for url in urls] == ["mysql", "postgresql", "redis", "kafka"]
    assert settings.identity.include_day_boundary
    assert settings.requests.daily_at == time(2)
    assert settings.archive.url is None


def test_problems_of_rendering_come_together() -> None:
    with pytest.raises(ConfigProblems) as caught:
        render_profile("cloud", "Shanghai")
    assert [problem.key for problem in caught.value.found] == ["profile", "msgx.airport.code"]
