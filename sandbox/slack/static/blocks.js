// Draw Block Kit. `press(element, blockId, value)` is called for whatever a person presses or chooses.

import { el } from "./dom.js";
import { mrkdwn, plain } from "./mrkdwn.js";
import { richText } from "./rich_text.js";

export function text(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text) : plain(object.text);
}

export function blocks(list, press) {
  return (list ?? []).map((block) => {
    const draw = DRAW[block.type];
    const node = draw ? draw(block, press) : el("div", { class: "unknown" }, `This client cannot show a ${block.type} block.`);
    node.classList.add("block");
    return node;
  });
}

const DRAW = {
  header: (block) => el("h3", { class: "header" }, text(block.text)),
  divider: () => el("hr"),
  section,
  context: (block) => el("div", { class: "context" }, block.elements.map((inner) => (inner.type === "image" ? picture(inner) : el("span", {}, text(inner))))),
  actions: (block, press) => el("div", { class: "actions" }, block.elements.map((inner) => element(inner, block.block_id, press))),
  rich_text: (block) => el("div", { class: "rich" }, richText(block)),
  markdown: (block) => el("div", { class: "rich" }, markdown(block.text)),
  image: (block) => el("figure", { class: "figure" }, block.title && el("figcaption", {}, text(block.title)), picture(block)),
  input: (block, press) => field(block, press),
  table,
  plan: (block) => el("div", { class: "plan" }, el("div", { class: "plan-title" }, block.title), el("ol", {}, (block.tasks ?? []).map((card) => el("li", {}, task(card))))),
  task_card: (block) => el("div", { class: "plan" }, task(block)),
};

function section(block, press) {
  const body = el("div", { class: "section-body" });
  if (block.text) body.append(el("div", { class: "section-text" }, text(block.text)));
  if (block.fields) body.append(el("div", { class: "fields" }, block.fields.map((inner) => el("div", { class: "field" }, text(inner)))));
  const node = el("div", { class: "section" }, body);
  if (block.accessory) {
    const inner = block.accessory;
    node.append(el("div", { class: "accessory" }, inner.type === "image" ? picture(inner) : element(inner, block.block_id, press)));
  }
  return node;
}

// Pictures are never fetched: the page works without any network.
const picture = (image) => el("span", { class: "picture", role: "img", "aria-label": image.alt_text }, image.alt_text);

export function element(item, blockId, press) {
  if (item.type === "button") return button(item, blockId, press);
  if (["static_select", "external_select", "overflow"].includes(item.type)) return choice(item, blockId, press);
  if (["checkboxes", "radio_buttons"].includes(item.type)) return boxes(item, (value) => press(item, blockId, value));
  return el("span", { class: "unknown" }, `This client cannot show a ${item.type}.`);
}

function button(item, blockId, press) {
  const label = item.accessibility_label ?? undefined;
  return el("button", { type: "button", class: `button ${item.style ?? ""}`, "aria-label": label, "data-action": item.action_id, onclick: () => press(item, blockId, undefined) }, el("span", {}, text(item.text)));
}

function choice(item, blockId, press) {
  const select = el("select", { class: "select", "data-action": item.action_id, "aria-label": item.placeholder?.text ?? "Choose" });
  const first = item.initial_option?.value;
  select.append(el("option", { value: "", selected: !first, disabled: true, hidden: true }, item.placeholder?.text ?? (item.type === "overflow" ? "…" : "Choose an option")));
  for (const group of item.option_groups ?? [{ options: item.options ?? [] }]) {
    const rows = group.options.map((row) => el("option", { value: row.value, selected: row.value === first }, row.text.text));
    select.append(...(group.label ? [el("optgroup", { label: group.label.text }, rows)] : rows));
  }
  select.addEventListener("change", async () => {
    const done = await press(item, blockId, select.value);
    if (done === false) select.value = first ?? "";
  });
  return el("span", { class: "select-frame" }, select);
}

function boxes(item, changed) {
  const kind = item.type === "checkboxes" ? "checkbox" : "radio";
  const first = new Set((item.initial_options ?? [item.initial_option]).filter(Boolean).map((row) => row.value));
  const name = `${item.action_id}-${Math.random()}`;
  const set = el("div", { class: "boxes", "data-action": item.action_id });
  for (const row of item.options) {
    const box = el("input", { type: kind, name, value: row.value, checked: first.has(row.value) });
    box.addEventListener("change", () => changed([...set.querySelectorAll("input:checked")].map((one) => one.value).join(",")));
    set.append(el("label", {}, box, el("span", {}, text(row.text), row.description && el("small", {}, text(row.description)))));
  }
  return set;
}

// One field of a modal: its value is read from data-block and data-action when the modal is sent.
function field(block, press) {
  const item = block.element;
  const keys = { "data-block": block.block_id, "data-action": item.action_id };
  const id = `field-${block.block_id}`;
  let control;
  if (item.type === "plain_text_input") {
    control = el(item.multiline ? "textarea" : "input", { id, class: "input", placeholder: item.placeholder?.text, value: item.initial_value ?? "", ...keys });
  } else if (["checkboxes", "radio_buttons"].includes(item.type)) {
    control = boxes(item, () => {});
    control.dataset.block = block.block_id;
  } else {
    control = element(item, block.block_id, block.dispatch_action ? press : () => {});
    const select = control.querySelector("select");
    if (select) Object.assign(select, { id }).dataset.block = block.block_id;
  }
  const label = el("label", { class: "label", for: id }, text(block.label), block.optional && el("span", { class: "optional" }, " (optional)"));
  return el("div", { class: "field-row" }, label, control, block.hint && el("p", { class: "hint" }, text(block.hint)), el("p", { class: "field-error", "data-error": block.block_id, hidden: true }));
}

function table(block) {
  const cell = (inner, tag, index) => {
    const settings = block.column_settings?.[index] ?? {};
    const shown = inner.type === "rich_text" ? richText(inner) : plain(inner.text ?? String(inner.value ?? ""));
    return el(tag, { class: `${settings.align ?? ""} ${settings.is_wrapped ? "wrapped" : ""}`, scope: tag === "th" ? "col" : undefined }, shown);
  };
  const [head, ...rest] = block.rows;
  const body = rest.map((row) => el("tr", {}, row.map((inner, index) => cell(inner, "td", index))));
  const top = el("thead", {}, el("tr", {}, head.map((inner, index) => cell(inner, "th", index))));
  return el("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Table" }, el("table", {}, top, el("tbody", {}, body)));
}

function task(card) {
  const status = card.status ?? "pending";
  const mark = el("span", { class: `task-mark ${status}`, role: "img", "aria-label": status.replace("_", " ") });
  const body = el("div", {}, el("div", { class: "task-title" }, card.title), card.details && richText(card.details), card.output && richText(card.output));
  return el("div", { class: "task" }, mark, body);
}

// The standard Markdown of the markdown block, as far as status texts use it.
function markdown(source) {
  return source.split(/\n{2,}/).map((part) => {
    const title = /^(#{1,6})\s+(.*)$/.exec(part);
    if (title) return el("h3", { class: "header" }, mrkdwn(title[2]));
    const slack = part.replace(/\*\*(.+?)\*\*/g, "*$1*").replace(/~~(.+?)~~/g, "~$1~").replace(/\[([^\]]+)\]\(([^)]+)\)/g, "<$2|$1>");
    return el("p", {}, mrkdwn(slack));
  });
}
