"""A real browser for tests of pages: what it shows, says and asks the network for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-dev-shm-usage"),
)


@dataclass
class Heard:
    """What a page complained about, and what it asked for beyond itself."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def executable() -> str:
    """Return the browser, or skip the test where there is none."""
    found = next((shutil.which(n) for n in NAMES if shutil.which(n)), None)
    if found is None:
        pytest.skip("no Chromium or Chrome; make services installs one")
    return found


@contextmanager
def chromium() -> Iterator:
    """Yield a browser of Playwright's that is the system's own."""
    from playwright.sync_api import sync_playwright

    path = executable()
    # Asked for nothing from outside, whatever the machine has set up.
    environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=list(FLAGS), env=environment
        )
        yield browser
        browser.close()


def listen(page) -> Heard:
    """Return what a page will say and ask for, from now on."""
    heard = Heard()
    page.on("console", lambda m: heard.complaints.append(f"{m.type}: {m.text}"))
    page.on("pageerror", lambda error: heard.complaints.append(f"error: {error}"))
    page.on("request", lambda request: heard.requests.append(request.url))
    return heard
