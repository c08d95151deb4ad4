"""A conversation with everything the page can show, for screenshots and for looking at it by hand.

python -m tests.sandbox.slack_scene DIR     writes PNG files: desktop and phone, light and dark
"""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright
from slack_sdk.web.async_client import AsyncWebClient

from tests.sandbox.slack_room import HOME, Room, app_room, approval, button, plain, room

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


def mrkdwn(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": mrkdwn(text)}


def context(*texts: str) -> dict[str, Any]:
    return {"type": "context", "elements": [mrkdwn(text) for text in texts]}


def plan() -> list[dict[str, Any]]:
    steps = (
        ":white_circle:  Label the GPU nodes",
        ":white_circle:  Install the NVIDIA GPU Operator",
        ":white_circle:  Update the control plane to *1.36* · asks first",
        ":white_circle:  Replace `kube-gpu-1` and `kube-gpu-2` · asks before each",
    )
    return [
        {"type": "header", "text": plain("Migration plan for gpu-multi")},
        section("The cluster goes from *1.35.4* to *1.36.0*. Nothing happens until somebody begins."),
        {"type": "section", "text": mrkdwn("\n".join(steps))},
        table(),
        {
            "type": "actions",
            "elements": [
                button("gm:begin", "Begin", value="r1", style="primary"),
                button("gm:discard", "Discard", value="r1"),
            ],
        },
        context(f"Asked by <@U0OPERATOR1> <!date^{int(time.time())}^{{date_short_pretty}} at {{time}}|now>"),
    ]


def table() -> dict[str, Any]:
    rows = (
        ("Worker", "Node", "Flavor", "GPUs"),
        ("kube-gpu-1", "10.240.0.21", "gx3.16x80.l4", "1"),
        ("kube-gpu-2", "10.240.0.22", "gx3.16x80.l4", "1"),
    )
    cells = [[{"type": "raw_text", "text": text} for text in row] for row in rows]
    return {"type": "table", "rows": cells, "column_settings": [{}, {}, {}, {"align": "right"}]}


def progress() -> list[dict[str, Any]]:
    steps = (
        ":white_check_mark:  Label the GPU nodes · 2 s",
        ":white_check_mark:  Install the NVIDIA GPU Operator · 48 s",
        ":white_check_mark:  Update the control plane · 7 min 12 s",
        ":hourglass_flowing_sand:  *Replace the worker `kube-gpu-1`* · waiting for a decision",
        ":white_circle:  Replace the worker `kube-gpu-2`",
        ":white_circle:  Verify the migration",
    )
    fields = (
        "*Cluster*\ngpu-multi",
        "*Version*\n1.35.4 → 1.36.0",
        "*GPUs allocatable*\n2 of 2",
        "*Workloads*\n2 of 2 running",
    )
    return [
        section("*gpu-multi · step 4 of 6*"),
        {"type": "section", "fields": [mrkdwn(text) for text in fields]},
        section("\n".join(steps)),
        context("Run `r-7f3a`", "started by <@U0OPERATOR1>", "updated just now"),
    ]


def decision() -> list[dict[str, Any]]:
    confirm = {
        "title": plain("Replace this worker?"),
        "text": mrkdwn("`kube-gpu-1` will be *deleted*. Its successor has a new id and a new address."),
        "confirm": plain("Replace it"),
        "deny": plain("Go back"),
    }
    moves = "• *gpu-burn-6c9f* moves to `10.240.0.22`, where one GPU is free"
    facts = f"{moves}\n• local files of the node are lost\n• takes about 9 minutes"
    return [
        {"type": "header", "text": plain("Replace worker kube-gpu-1?")},
        section(f"The node `10.240.0.21` is cordoned, drained and replaced by one with 1.36.\n{facts}"),
        {
            "type": "actions",
            "elements": [
                button("gm:approve", "Approve", value="a1", style="primary", confirm=confirm),
                button("gm:reject", "Reject", value="a1", style="danger", confirm={**confirm, "style": "danger"}),
                {
                    "type": "static_select",
                    "action_id": "gm:later",
                    "placeholder": plain("Remind me…"),
                    "options": [
                        {"text": plain("in one hour"), "value": "1h"},
                        {"text": plain("tomorrow"), "value": "1d"},
                    ],
                },
            ],
        },
        context(":lock: Approvers: <@U0APPROVER1>, <!subteam^S0APPROVERS>. Nothing happens if nobody answers."),
    ]


async def play(where: Room) -> str:
    """Post the conversation; the ts of the run's thread."""
    client: AsyncWebClient = where.client
    await where.act("type", user="operator-1", text="Starting with *gpu-multi* today, see the plan below :eyes:")
    await client.chat_postMessage(channel=HOME, text="Migration plan", blocks=plan())
    run = await client.chat_postMessage(channel=HOME, text="gpu-multi", blocks=progress())
    thread = str(run["ts"])
    lines = (
        "The control plane answers with `1.36.0_1506` now.",
        ":white_check_mark: Node `10.240.0.22` is Ready after 3 min 4 s.\n> kubelet v1.36.0+IKS",
        "```NAME          STATUS   VERSION\n10.240.0.22   Ready    v1.36.0+IKS```",
    )
    for line in lines:
        await client.chat_postMessage(channel=HOME, text=line, thread_ts=thread)
    await client.chat_update(channel=HOME, ts=thread, text="gpu-multi, step 4", blocks=progress())
    await client.pins_add(channel=HOME, timestamp=thread)
    await client.chat_postMessage(channel=HOME, text="Replace worker kube-gpu-1?", blocks=decision())
    await client.chat_postEphemeral(
        channel=HOME,
        user="U0OPERATOR1",
        text="Only approvers decide this. Ask <@U0APPROVER1>, or type `/gpu-migrate help`.",
    )
    return thread


async def browse(browser: Browser, size: str, scheme: Any) -> Page:
    width, height = SIZES[size]
    context_ = await browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=size == "phone"
    )
    return await context_.new_page()


async def shoot(folder: Path) -> None:
    async with room() as where, async_playwright() as playwright:
        await play(where)
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        for size in SIZES:
            for scheme in ("light", "dark"):
                page = await browse(browser, size, scheme)
                await page.goto(f"{where.url}/?user=operator-1")
                await page.wait_for_selector(".message.ephemeral")
                await page.wait_for_timeout(400)
                await page.screenshot(path=str(folder / f"{size}-{scheme}.png"))
                await page.locator(".thread-line").last.scroll_into_view_if_needed()
                await page.locator(".thread-line").last.click()
                await page.wait_for_selector("#thread .message:nth-of-type(2)")
                await page.wait_for_timeout(400)
                await page.screenshot(path=str(folder / f"{size}-{scheme}-thread.png"))
                await page.locator("#thread-close").click()
                await page.locator('[data-action="gm:approve"]').click()
                await page.wait_for_selector("dialog[open]")
                await page.wait_for_timeout(300)
                await page.screenshot(path=str(folder / f"{size}-{scheme}-confirm.png"))
                await page.context.close()
        await browser.close()


async def stay() -> None:
    async with app_room(approval) as where:
        await play(where)
        print(where.url, flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(shoot(Path(sys.argv[1])) if len(sys.argv) > 1 else stay())
