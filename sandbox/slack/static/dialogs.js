// Dialogs: the confirmation before a press, modals of the app, and short notes at the edge.

import { act } from "./api.js";
import { blocks, text } from "./blocks.js";
import { el, icon } from "./dom.js";

// Ask what a button's confirm object asks; resolves to true or false.
export function confirmed(question) {
  return new Promise((resolve) => {
    const dialog = el("dialog", { class: "dialog", "aria-label": question.title.text });
    const answer = (said) => {
      dialog.close();
      dialog.remove();
      resolve(said);
    };
    const no = el("button", { type: "button", class: "button", onclick: () => answer(false) }, text(question.deny));
    const yes = el("button", { type: "button", class: `button ${question.style ?? "primary"}`, onclick: () => answer(true) }, text(question.confirm));
    const close = el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => answer(false) }, icon("close"));
    dialog.append(
      el("header", {}, el("h2", {}, text(question.title)), close),
      el("div", { class: "dialog-body" }, text(question.text)),
      el("footer", {}, no, yes),
    );
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      answer(false);
    });
    document.body.append(dialog);
    dialog.showModal();
    yes.focus();
  });
}

export function toast(says, kind = "bad") {
  const note = el("div", { class: `toast ${kind}` }, icon("warning"), el("span", {}, says));
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), 7000);
}

let open = null;

// Show the person's topmost modal, or none. The same version is left alone, so that typing is not lost.
export function showModal(view, user) {
  if (open && view && open.hash === view.hash && open.user === user) return;
  open?.node.remove();
  open = null;
  if (!view) return;
  const form = el("form", { class: "modal-form", novalidate: true });
  const node = el("dialog", { class: "dialog modal", "aria-label": view.title?.text ?? "Dialog" }, form);
  const close = async () => {
    const answer = await act("close", { user, view_id: view.id });
    if (!answer.ok) toast(answer.message ?? answer.error);
  };
  const press = (item, _block, value) => pressView(view, user, item, value);
  form.append(
    el("header", {}, el("h2", {}, text(view.title)), el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: close }, icon("close"))),
    el("div", { class: "dialog-body" }, blocks(view.blocks, press)),
    el("footer", {}, el("button", { type: "button", class: "button", onclick: close }, view.close ? text(view.close) : "Close"), view.submit && el("button", { class: "button primary" }, text(view.submit))),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, view, user);
  });
  node.addEventListener("cancel", (event) => {
    event.preventDefault();
    close();
  });
  document.body.append(node);
  node.showModal();
  open = { hash: view.hash, user, node };
}

export async function pressView(view, user, item, value) {
  if (item.confirm && !(await confirmed(item.confirm))) return false;
  const answer = await act("press", { user, view_id: view.id, action_id: item.action_id, value });
  if (!answer.ok) toast(answer.message ?? answer.error);
  return answer.ok;
}

async function send(form, view, user) {
  for (const note of form.querySelectorAll("[data-error]")) note.hidden = true;
  const button = form.querySelector("footer .primary");
  if (button) button.disabled = true;
  const answer = await act("submit", { user, view_id: view.id, values: values(form) });
  if (button) button.disabled = false;
  for (const [block, says] of Object.entries(answer.errors ?? {})) {
    const note = form.querySelector(`[data-error="${CSS.escape(block)}"]`);
    if (note) Object.assign(note, { textContent: says, hidden: false });
  }
  if (!answer.ok && !answer.errors) toast(answer.message ?? answer.error);
}

function values(form) {
  const found = {};
  for (const control of form.querySelectorAll("[data-block]")) {
    const checked = control.matches(".boxes") ? [...control.querySelectorAll("input:checked")].map((box) => box.value).join(",") : control.value;
    (found[control.dataset.block] ??= {})[control.dataset.action] = checked;
  }
  return found;
}
