"""Draw the picture of the README: a game of Koi-Koi at the web table, in a real browser.

make picture
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.support.person import Person

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "web_table.png"
SEED, TURNS = 11, 3
SIZE = {"width": 1280, "height": 760}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def draw(address: str, path: Path) -> None:
    """Play some turns by clicks and take a picture of the page."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("the picture needs Chromium (Debian and Ubuntu: apt install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        person = Person(page, address)
        person.deal("koi_koi", seed=SEED, seats=["me", "koi_koi_win"])
        for _ in range(TURNS):
            person.turn()
        page.wait_for_selector('.board[data-turn="yes"]')
        page.mouse.move(0, 0)
        page.wait_for_timeout(6000)  # what the opponent did is shown for some seconds
        page.screenshot(path=path)
        browser.close()
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


def main() -> None:
    """Serve the web table with a store of its own and draw the picture."""
    command = [sys.executable, "-m", "cardlab", "serve", "--port", "0"]
    with tempfile.TemporaryDirectory() as folder:
        command += ["--store", f"sqlite:///{folder}/store.db"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                draw(server.stdout.readline().split()[3].rstrip("/"), PICTURE)
            finally:
                server.terminate()
    sys.stdout.write(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
