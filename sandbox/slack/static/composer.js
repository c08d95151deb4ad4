// The box where people type, with the list of commands that appears after a slash.

import { act } from "./api.js";
import { toast } from "./dialogs.js";
import { el, icon } from "./dom.js";

// `where()` gives {user, channel, thread_ts?, placeholder, commands}; `sent()` is called after each line.
export function composer(form, where, sent) {
  const past = [];
  let at = 0;
  const box = el("textarea", { rows: 1, class: "composer-text", "aria-label": "Message", autocomplete: "off", spellcheck: false, enterkeyhint: "send" });
  const button = el("button", { class: "send", "aria-label": "Send", disabled: true }, icon("send"));
  const list = el("div", { class: "commands", role: "listbox", "aria-label": "Commands", hidden: true });
  const hint = el("p", { class: "composer-hint" }, el("kbd", {}, "Enter"), " sends · ", el("kbd", {}, "Shift"), " ", el("kbd", {}, "Enter"), " new line · ", el("kbd", {}, "↑"), " last line");
  form.append(list, el("div", { class: "composer-box" }, box, button), hint);

  const fit = () => {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 180)}px`;
    button.disabled = !box.value.trim();
    offer();
  };
  const put = (value) => {
    box.value = value;
    fit();
    box.setSelectionRange(value.length, value.length);
  };
  const offer = () => {
    const found = (where().commands ?? []).filter((command) => box.value.startsWith("/") && command.name.startsWith(box.value.split(" ")[0]) && !box.value.includes("\n"));
    list.hidden = !found.length || box.value.includes(" ");
    list.replaceChildren(...found.map((command) => el("button", { type: "button", role: "option", onclick: () => (put(`${command.name} `), box.focus()) }, el("b", {}, command.name), el("span", {}, command.usage), el("small", {}, command.says))));
  };
  const submit = async () => {
    const text = box.value.trim();
    if (!text) return;
    const { user, channel, thread_ts } = where();
    past.push(text);
    at = past.length;
    put("");
    const answer = await act("type", { user, channel, text, ...(thread_ts ? { thread_ts } : {}) });
    if (!answer.ok && ["unreachable", "not_in_channel", "no_such_channel", "user_not_found"].includes(answer.error)) toast(answer.message ?? answer.error.replaceAll("_", " "));
    sent(answer);
  };
  box.addEventListener("input", fit);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    } else if (event.key === "Tab" && !list.hidden) {
      event.preventDefault();
      list.firstElementChild.click();
    } else if (event.key === "Escape") list.hidden = true;
    else if (event.key === "ArrowUp" && past.length && (!box.value || at < past.length)) {
      event.preventDefault();
      at = Math.max(0, at - 1);
      put(past[at]);
    } else if (event.key === "ArrowDown" && at < past.length) {
      event.preventDefault();
      at += 1;
      put(past[at] ?? "");
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return { box, refresh: () => { box.placeholder = where().placeholder; offer(); } };
}
