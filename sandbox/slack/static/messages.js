// Draw a list of messages, and redraw only those that changed.

import { blocks } from "./blocks.js";
import { avatar, clock, day, el, icon } from "./dom.js";
import { mrkdwn, shortcode } from "./mrkdwn.js";

const NEAR = 300; // seconds within which messages of one author stand together

// Bring `box` up to date with `rows`. `room`: {press(row), openThread(row), inThread, names}.
export function drawList(box, rows, room) {
  const old = new Map([...box.children].map((node) => [node.dataset.key, node]));
  const nodes = [];
  let before = null;
  for (const row of rows) {
    const date = day(row.ts);
    if (!room.inThread && (!before || day(before.ts) !== date)) nodes.push(kept(old, `day-${date}`, date, () => el("div", { class: "day", role: "separator" }, el("span", {}, date))));
    const near = before && together(before, row) && !(room.inThread && before === rows[0]);
    nodes.push(kept(old, row.ts, JSON.stringify([row, near, room.user]), () => message(row, Boolean(near), room)));
    if (room.inThread && row === rows[0] && rows.length > 1) {
      const count = rows.length - 1;
      nodes.push(kept(old, "count", String(count), () => el("div", { class: "reply-count", role: "separator" }, el("span", {}, replies(count)))));
    }
    before = row;
  }
  sync(box, nodes);
}

// One author's short lines stand together; cards and lines for one person only stand alone.
function together(before, row) {
  const lines = [before, row].every((one) => !one.ephemeral && !one.blocks.length && !one.pinned);
  return lines && before.user === row.user && row.ts - before.ts < NEAR && day(before.ts) === day(row.ts);
}

// Put `nodes` into `box` in order, touching only what is not yet in its place, so that focus and scroll stay.
function sync(box, nodes) {
  const keep = new Set(nodes);
  for (const child of [...box.children]) if (!keep.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (box.children[index] !== node) box.insertBefore(node, box.children[index] ?? null);
  });
}

function kept(old, key, version, make) {
  const known = old.get(key);
  if (known?.dataset.version === version) return known;
  const focused = known?.contains(document.activeElement) ? document.activeElement.dataset.action : undefined;
  const node = make();
  node.dataset.key = key;
  node.dataset.version = version;
  if (known) node.classList.add("still");
  if (focused) queueMicrotask(() => (node.querySelector(`[data-action="${CSS.escape(focused)}"]`) ?? node).focus());
  return node;
}

function message(row, near, room) {
  const system = row.user === "USLACKBOT";
  const kinds = ["message", near && "near", row.ephemeral && "ephemeral", system && "failure"].filter(Boolean).join(" ");
  const author = { id: row.user, name: row.name, bot: row.bot, system };
  const body = el("div", { class: "message-body" });
  if (!near) {
    const badge = row.bot && el("span", { class: "app-badge" }, "APP");
    body.append(el("div", { class: "author" }, el("b", {}, row.name), badge, el("time", { class: "at", title: whole(row.ts) }, clock(row.ts))));
  }
  body.append(content(row, room));
  if (row.reactions.length) body.append(el("div", { class: "reactions" }, row.reactions.map((one) => el("span", { class: "reaction" }, shortcode(one.name), ` ${one.count}`))));
  if (row.reply_count && !room.inThread) body.append(threadLine(row, room));
  const side = near ? el("time", { class: "at side", title: whole(row.ts) }, clock(row.ts).replace(/\s?[AP]M$/i, "")) : avatar(author);
  const marks = [];
  if (row.ephemeral) marks.push(el("div", { class: "note" }, icon("eye"), "Only visible to you"));
  if (row.pinned) marks.push(el("div", { class: "note pinned" }, icon("pin"), "Pinned"));
  const answer = !room.inThread && !row.ephemeral && el("div", { class: "tools" }, el("button", { type: "button", class: "icon", "aria-label": "Reply in thread", title: "Reply in thread", onclick: () => room.openThread(row) }, icon("reply")));
  return el("article", { class: kinds, "data-ts": row.ts, tabindex: "-1", "aria-label": `${row.name}, ${clock(row.ts)}` }, marks, el("div", { class: "side-cell" }, side), body, answer);
}

function content(row, room) {
  const press = (item, blockId, value) => room.press(row, item, blockId, value);
  const shown = row.blocks.length ? el("div", { class: "blocks" }, blocks(row.blocks, press)) : el("div", { class: "text" }, mrkdwn(row.text));
  if (row.edited) {
    const mark = el("span", { class: "edited", title: "This message was changed" }, " (edited)");
    const last = row.blocks.length ? [...shown.querySelectorAll(":scope > .section .section-text, :scope > .context")].pop() : shown;
    (last ?? shown).append(mark);
  }
  for (const extra of row.attachments ?? []) {
    shown.append(el("div", { class: "attachment", style: `--edge: ${/^#?\w+$/.test(extra.color ?? "") ? extra.color : "var(--line)"}` }, extra.blocks ? blocks(extra.blocks, press) : mrkdwn(extra.text ?? extra.fallback ?? "")));
  }
  return shown;
}

function threadLine(row, room) {
  const faces = row.reply_users.slice(0, 3).map((id) => avatar(room.author(id), "small"));
  const last = el("span", { class: "last-reply" }, `Last reply ${day(row.latest_reply).toLowerCase()} at ${clock(row.latest_reply)}`);
  return el("button", { type: "button", class: "thread-line", onclick: () => room.openThread(row) }, el("span", { class: "faces" }, faces), el("b", {}, replies(row.reply_count)), last);
}

const replies = (count) => `${count} ${count === 1 ? "reply" : "replies"}`;
const whole = (ts) => new Date(Number(ts) * 1000).toLocaleString();
