"""Entry of `make screenshots`: pictures of the console, light and dark, into docs/screenshots."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from screenshots.plan import FOLDER, MAX_BYTES, SCHEMES, Shot, shots
from screenshots.small import make_small
from screenshots.stage import ENOUGH, ENOUGH_WITHIN_S, add_trouble, demo, finished

WIDTH: Final = 1200
WAIT_MS: Final = 20_000
SETTLES_MS: Final = 4000


def main() -> int:
    """Take the pictures; 0, or 1 when they have become too large."""
    asked = _parser().parse_args()
    wanted = [each for each in shots() if not asked.only or each.name in asked.only]
    if not wanted:
        raise SystemExit(f"no such page: one of {' '.join(each.name for each in shots())}")
    asked.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="msgx-screenshots-") as scratch, demo(Path(scratch)) as address:
        _take(address, wanted, asked.into, asked.messages)
    size = sum(path.stat().st_size for path in asked.into.glob("*.png"))
    print(f"{len(wanted) * len(SCHEMES)} pictures in {asked.into}, {size:,} bytes in all")
    return 0 if size <= MAX_BYTES else 1


def _take(address: str, wanted: Iterable[Shot], into: Path, enough: int) -> None:
    with sync_playwright() as playwright:
        # As root it has no sandbox; what it opens here is ours.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=_chromium(), args=arguments)
        try:
            watching = browser.new_page()
            watching.goto(f"{address}/console")  # somebody looks on, so that the charts fill
            _wait_for(address, enough, watching)
            add_trouble(address)
            watching.wait_for_timeout(SETTLES_MS)
            for scheme in SCHEMES:
                _take_all(browser, address, scheme, wanted, into)
        finally:
            browser.close()


def _take_all(
    browser: Browser, address: str, scheme: Literal["light", "dark"], wanted: Iterable[Shot], into: Path
) -> None:
    context = browser.new_context(
        base_url=address,
        locale="en-GB",
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    for each in wanted:
        page.set_viewport_size({"width": WIDTH, "height": each.height})
        page.goto(each.path)
        if each.click:
            page.locator(each.click).first.click()
        page.wait_for_load_state("load")
        path = into / each.file(scheme)
        path.write_bytes(make_small(page.screenshot(animations="disabled")))
        print(f"{path.name}  {path.stat().st_size:,} bytes", flush=True)
    context.close()


def _wait_for(address: str, enough: int, watching: Page) -> None:
    ends_at_s = time.monotonic() + ENOUGH_WITHIN_S
    while (done := finished(address)) < enough:
        if time.monotonic() > ends_at_s:
            raise SystemExit(f"only {done} messages of {enough} were processed in {ENOUGH_WITHIN_S:g} s")
        watching.wait_for_timeout(1000)


def _chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise SystemExit("there is no chromium: apt-get install chromium, or say where it is in CHROMIUM")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="screenshots", description="Pictures of the console for its docs.")
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder (%(default)s)")
    parser.add_argument("--only", nargs="*", help="names of pages; all when none is given")
    parser.add_argument(
        "--messages", type=int, default=ENOUGH, help="so many are processed first (%(default)s)"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
