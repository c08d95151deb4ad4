// The sidebar: channels, the app, and the people one can be.

import { avatar, el, icon } from "./dom.js";

const ROLES = { approver: "may approve", operator: "starts runs", onlooker: "looks on" };

// `state`: what app.js holds; `go`: {channel(id), person(id)}.
export function drawSidebar(state, go) {
  const byId = (id) => document.getElementById(id);
  byId("team").textContent = state.team.name;
  const channels = state.channels.filter((channel) => !channel.is_im);
  byId("channels").replaceChildren(...channels.map((channel) => place(channel.id, el("span", { class: "hash", "aria-hidden": "true" }, "#"), channel.name, state, go)));
  const direct = directOf(state);
  byId("apps").replaceChildren(place(direct, avatar({ ...state.bot, bot: true }, "small"), state.bot.name, state, go));
  const people = byId("people"), held = people.contains(document.activeElement);
  people.replaceChildren(...state.people.map((person) => who(person, state, go)));
  people.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = state.people.findIndex((person) => person.id === state.user);
    go.person(state.people[(at + step + state.people.length) % state.people.length].id);
  };
  if (held) people.querySelector("[aria-checked='true']").focus();
}

export const directOf = (state) => `D${state.user.slice(1)}`;

function place(id, mark, name, state, go) {
  const here = state.channel === id;
  const unread = state.unread.get(id);
  const keys = { type: "button", class: unread ? "unread" : "", "aria-current": here ? "page" : undefined, onclick: () => go.channel(id) };
  return el("li", {}, el("button", keys, mark, el("span", { class: "place-name" }, name), unread && el("span", { class: "count", "aria-label": `${unread} new` }, String(unread))));
}

function who(person, state, go) {
  const mine = person.id === state.user;
  const keys = { type: "button", class: "who", role: "radio", tabindex: mine ? "0" : "-1", "aria-checked": String(mine), "data-person": person.name, onclick: () => go.person(person.id) };
  return el("button", keys, avatar(person, "medium"), el("span", { class: "who-name" }, el("b", {}, person.name), el("small", {}, ROLES[person.role] ?? person.role)), mine && el("span", { class: "who-mark", "aria-hidden": "true" }, "✓"));
}

// Open and close the sidebar on small screens.
export function drawer() {
  const sidebar = document.getElementById("sidebar"), shade = document.getElementById("shade"), menu = document.getElementById("menu");
  const set = (open) => {
    sidebar.classList.toggle("open", open);
    shade.hidden = !open;
    menu.setAttribute("aria-expanded", String(open));
    if (open) sidebar.querySelector("[aria-checked='true'], button")?.focus();
  };
  menu.append(icon("menu"));
  menu.addEventListener("click", () => set(!sidebar.classList.contains("open")));
  document.getElementById("me").addEventListener("click", () => set(true));
  shade.addEventListener("click", () => set(false));
  sidebar.addEventListener("keydown", (event) => event.key === "Escape" && set(false));
  return { close: () => set(false) };
}

export function themes() {
  const order = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  const set = (name) => {
    document.documentElement.dataset.theme = name;
    button.title = `Theme: ${name}`;
    localStorage.setItem("theme", name);
  };
  button.append(icon("theme"));
  button.addEventListener("click", () => set(order[(order.indexOf(document.documentElement.dataset.theme) + 1) % 3]));
  const asked = new URLSearchParams(location.search).get("theme");
  const first = asked ?? localStorage.getItem("theme");
  set(order.includes(first) ? first : "auto");
}
