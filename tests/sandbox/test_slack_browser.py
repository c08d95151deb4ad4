"""The page in a real browser: what a person types and presses reaches a real Bolt app and comes back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.sandbox.slack_room import HOME, Room, app_room, approval, room
from tests.sandbox.slack_scene import CHROMIUM, FLAGS, browse, play

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs Chromium at {CHROMIUM} (apt-get install chromium)"),
]
PATIENCE = 60_000.0  # milliseconds; other tests may have the processors


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all tests here: starting it is most of their time."""
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=list(FLAGS), timeout=2 * PATIENCE
        )
        yield started
        await started.close()


@asynccontextmanager
async def window(browser: Browser, where: Room, size: str = "desktop") -> AsyncIterator[Page]:
    """A window of its own on the page, as operator-1; any script error fails the test."""
    errors: list[str] = []
    page = await browse(browser, size, "light")
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        await page.goto(f"{where.url}/?user=operator-1")
        yield page
    finally:
        await page.context.close()

    assert errors == []


async def test_given_the_page_when_a_command_is_typed_and_a_button_pressed_then_the_app_answers(
    browser: Browser,
) -> None:
    async with app_room(approval) as where, window(browser, where) as page:
        await page.get_by_role("textbox", name="Message").fill("/gpu-migrate start gpu-multi")
        await page.keyboard.press("Enter")
        private = page.locator(".ephemeral")
        await expect(private).to_contain_text("starting start gpu-multi")
        await expect(private).to_contain_text("Only visible to you")

        await page.get_by_role("button", name="Approve").click()
        question = page.get_by_role("dialog")
        await expect(question).to_contain_text("The worker will be replaced.")
        await question.get_by_role("button", name="No").click()
        unanswered = where.verbs()
        await page.get_by_role("button", name="Approve").click()
        await question.get_by_role("button", name="Yes").click()
        await expect(page.locator(".message").first).to_contain_text("Approved by U0OPERATOR1 (edited)")

    assert "click" not in unanswered
    assert where.verbs() == ["type", "chat.postMessage", "click", "chat.update"]


async def test_given_nobody_listening_when_typed_then_the_failure_is_shown(browser: Browser) -> None:
    async with room() as where, window(browser, where) as page:
        await page.get_by_role("textbox", name="Message").fill("/gpu-migrate status")
        await page.keyboard.press("Enter")

        await expect(page.locator(".failure")).to_contain_text("dispatch_failed")


async def test_given_a_run_when_read_on_a_phone_then_its_thread_opens_and_people_can_be_changed(
    browser: Browser,
) -> None:
    async with room() as where:
        await play(where)
        async with window(browser, where, "phone") as page:
            await page.locator(".thread-line").click()
            await expect(page.locator("#thread .message")).to_have_count(4)
            await page.get_by_role("button", name="Close the thread").click()
            await expect(page.locator(".ephemeral")).to_have_count(1)
            await page.get_by_role("button", name="Change who you are").click()
            await page.locator('[data-person="approver-1"]').click()
            await expect(page.locator(".ephemeral")).to_have_count(0)
            wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")

    assert wide <= 0


async def test_given_text_full_of_markup_when_shown_then_nothing_of_it_is_html(browser: Browser) -> None:
    links = "<https://example.com|*site*> &lt;img src=x onerror=alert(1)&gt; <javascript:alert(1)|no>"
    text = f"{links} `a < b` :nosuch: *b* _i_ ~s~"
    async with room() as where, window(browser, where) as page:
        await where.client.chat_postMessage(channel=HOME, text=text)
        shown = page.locator(".message .text")

        await expect(shown).to_have_text("site <img src=x onerror=alert(1)> no a < b :nosuch: b i s")
        await expect(shown.locator("a")).to_have_count(1)
        await expect(shown.locator("img")).to_have_count(0)
        await expect(shown.locator("strong")).to_have_count(2)
