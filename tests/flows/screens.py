"""Pictures of a real run for the README: `python -m tests.flows.screens docs/images`.

Plays the guide's second example in the pretend Slack and photographs the page at the moments that matter. The pictures
are made by this program alone, so that they show what the product shows.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from sandbox.people import Message
from tests.flows.crew import Crew
from tests.flows.stage import Stage, staged
from tests.sandbox.slack_scene import CHROMIUM, FLAGS

SPEED = 60.0
DESK, PHONE = {"width": 1180, "height": 860}, {"width": 390, "height": 844}
SETTLED_MS = 1500


class Photographer:
    """Takes one picture per moment."""

    def __init__(self, stage: Stage, browser: Browser, folder: Path) -> None:
        self._stage = stage
        self._browser = browser
        self._folder = folder

    def shoot(self, name: str, *, phone: bool = False, thread: str = "") -> None:
        page = self._browser.new_page(viewport=PHONE if phone else DESK)  # type: ignore[arg-type]
        try:
            theme = "dark" if phone else "light"
            page.goto(f"{self._stage.endpoints.slack_page}?user=approver-1&theme={theme}")
            page.wait_for_timeout(SETTLED_MS)
            if thread:
                self._open_thread(page)
            page.screenshot(path=self._folder / f"{name}.png")
        finally:
            page.close()

    def _open_thread(self, page: Page) -> None:
        replies = page.get_by_role("button").filter(has_text="repl").first
        replies.click()
        page.wait_for_timeout(SETTLED_MS)


def main(folder: Path) -> None:
    """Write the pictures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        with staged(Path(place), "guide-example-2", SPEED) as stage:
            stage.start_bot()
            crew = Crew(stage, "gpu-multi")
            crew.command("start")
            photographer = Photographer(stage, browser, folder)

            def before(number: int, _card: Message) -> None:
                names = {1: "plan", 3: "worker"}
                if number in names:
                    photographer.shoot(names[number])
                if number == 3:
                    photographer.shoot("phone", phone=True)

            crew.play(before=before)
            photographer.shoot("done")
            photographer.shoot("thread", thread="news")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
