// The page's state and its wiring: read what the workspace holds, draw it, hand acts over, redraw on every event.

import { act, listen, read } from "./api.js";
import { blocks } from "./blocks.js";
import { composer } from "./composer.js";
import { confirmed, pressView, showModal, toast } from "./dialogs.js";
import { avatar, el, icon } from "./dom.js";
import { drawList } from "./messages.js";
import { know } from "./mrkdwn.js";
import { directOf, drawer, drawSidebar, themes } from "./sidebar.js";

const byId = (id) => document.getElementById(id);
const state = { people: [], channels: [], bot: {}, team: {}, commands: [], user: "", channel: "", thread: "", tab: "messages", rows: [], unread: new Map() };
const side = drawer();

const main = composer(byId("composer"), () => ({ user: state.user, channel: state.channel, commands: state.commands, placeholder: `Message ${placeName()}` }), () => toBottom(byId("list")));
const reply = composer(byId("thread-composer"), () => ({ user: state.user, channel: state.channel, thread_ts: state.thread, placeholder: "Reply…" }), () => toBottom(byId("thread-list")));

async function start() {
  themes();
  byId("thread-close").append(icon("close"));
  byId("thread-close").addEventListener("click", () => openThread(null));
  byId("newer").addEventListener("click", () => toBottom(byId("list")));
  byId("list").addEventListener("scroll", () => atBottom(byId("list")) && (byId("newer").hidden = true));
  await readPeople();
  const asked = new URLSearchParams(location.search);
  const wanted = asked.get("user") ?? localStorage.getItem("user");
  state.user = (state.people.find((person) => [person.id, person.name].includes(wanted)) ?? state.people[0]).id;
  const place = asked.get("channel");
  state.channel = state.channels.find((channel) => place && [channel.id, channel.name].includes(place))?.id ?? state.channel;
  await go.channel(state.channel);
  listen(heard, connected);
}

async function readPeople() {
  const answer = await read("people");
  if (!answer.ok) return connected(false);
  Object.assign(state, { people: answer.people, channels: answer.channels, bot: answer.bot, team: answer.team, commands: answer.commands, channel: state.channel || answer.channel });
  know([...answer.people.map((one) => [one.id, one.name]), ...answer.channels.map((one) => [one.id, one.name]), [answer.bot.id, answer.bot.name], [answer.group.id, answer.group.name]]);
  document.title = answer.team.name;
}

const go = {
  async channel(id) {
    Object.assign(state, { channel: id, thread: "", tab: "messages", rows: [] });
    state.unread.delete(id);
    byId("list").replaceChildren();
    side.close();
    await refresh();
    toBottom(byId("list"));
    if (matchMedia("(min-width: 760px)").matches) main.box.focus();
  },
  async person(id) {
    const direct = state.channel === directOf(state);
    state.user = id;
    localStorage.setItem("user", id);
    if (direct) return go.channel(directOf(state));
    side.close();
    await refresh();
  },
};

let reading = false, again = false;

// Read and draw everything that is on screen. Calls that come while one is under way are one more.
async function refresh() {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  do {
    again = false;
    const { channel, user } = state;
    const place = channel.startsWith("D") ? `@${user}` : channel;
    const [answer, views] = await Promise.all([read("messages", { channel: place, user }), read("views", { user })]);
    if (channel !== state.channel || user !== state.user) again = true;
    else if (answer.ok) draw(answer, views);
  } while (again);
  reading = false;
}

function draw(answer, views) {
  state.rows = answer.messages;
  drawSidebar(state, go);
  drawBar(answer.channel);
  const list = byId("list");
  const low = atBottom(list), count = list.childElementCount;
  const room = { user: state.user, press: pressed, openThread, author };
  drawList(list, state.rows.filter((row) => row.in_channel), room);
  if (!list.childElementCount) list.append(welcome(answer.channel));
  if (low) toBottom(list);
  else if (list.childElementCount > count) byId("newer").hidden = false;
  drawThread(room);
  drawHome(views.home);
  showModal(views.modal, state.user);
}

function drawBar(channel) {
  byId("title").textContent = placeName();
  byId("topic").textContent = channel.is_im ? "Direct messages with the app" : channel.topic;
  byId("members").replaceChildren(icon("people"), String(channel.members));
  byId("members").hidden = channel.is_im;
  byId("me").replaceChildren(avatar(author(state.user), "medium"));
  byId("me").title = `You are ${author(state.user).name}`;
  byId("tabs").hidden = !channel.is_im;
  byId("tabs").replaceChildren(...["messages", "home"].map((name) => el("button", { type: "button", role: "tab", "aria-selected": String(state.tab === name), onclick: () => openTab(name) }, name === "home" ? "Home" : "Messages")));
  byId("list").hidden = state.tab === "home";
  byId("home").hidden = state.tab !== "home";
  byId("composer").hidden = state.tab === "home";
  main.refresh();
  reply.refresh();
}

function drawThread(room) {
  const rows = state.rows.filter((row) => row.ts === state.thread || row.thread_ts === state.thread);
  byId("thread").hidden = !state.thread;
  byId("frame").classList.toggle("with-thread", Boolean(state.thread));
  if (!state.thread) return;
  const list = byId("thread-list"), low = atBottom(list);
  byId("thread-place").textContent = placeName();
  drawList(list, rows, { ...room, inThread: true });
  if (low) toBottom(list);
}

function drawHome(view) {
  if (state.tab !== "home") return;
  const press = (item, _block, value) => pressView(view, state.user, item, value);
  byId("home").replaceChildren(view ? el("div", { class: "blocks" }, blocks(view.blocks, press)) : el("p", { class: "empty" }, "The app has not published a Home tab for you yet."));
}

async function openTab(name) {
  state.tab = name;
  await refresh();
  if (name === "home") await act("home", { user: state.user });
}

function openThread(row) {
  state.thread = row ? row.thread_ts ?? row.ts : "";
  byId("thread-list").replaceChildren();
  refresh().then(() => {
    if (!row) return main.box.focus();
    toBottom(byId("thread-list"));
    if (matchMedia("(min-width: 760px)").matches) reply.box.focus();
  });
}

// Hand one press over, as the person saw it: the message may have changed a moment ago, and the app must cope.
// False when the person said no, so that a select can go back.
async function pressed(row, item, blockId, value) {
  if (item.type === "button" && item.url) window.open(item.url, "_blank", "noopener");
  if (item.confirm && !(await confirmed(item.confirm))) return false;
  const nodes = document.querySelectorAll(`[data-ts="${CSS.escape(row.ts)}"] [data-action="${CSS.escape(item.action_id)}"]`);
  for (const node of nodes) node.classList.add("busy");
  const chosen = item.type === "button" ? item.value : value;
  const answer = await act("click", { user: state.user, channel: state.channel, ts: row.ts, action_id: item.action_id, block_id: blockId, value: chosen, stale: true });
  for (const node of nodes) node.classList.remove("busy");
  if (!answer.ok && !answer.message) toast(`That did not work: ${answer.error.replaceAll("_", " ")}`);
  return answer.ok;
}

async function heard(event) {
  if (event.user && event.user !== state.user) return;
  if (event.type === "channel") await readPeople();
  if (event.type === "message" && event.channel !== state.channel) state.unread.set(event.channel, (state.unread.get(event.channel) ?? 0) + 1);
  await refresh();
}

function connected(yes) {
  byId("banner").hidden = yes;
  byId("banner").replaceChildren(el("span", { class: "spinner", "aria-hidden": "true" }), "Connection lost. Trying again…");
  if (yes) refresh();
}

function author(id) {
  if (id === state.bot.id) return { ...state.bot, bot: true };
  return state.people.find((person) => person.id === id) ?? { id, name: id };
}

function placeName() {
  if (state.channel.startsWith("D")) return state.bot.name;
  return `#${state.channels.find((channel) => channel.id === state.channel)?.name ?? ""}`;
}

function welcome(channel) {
  const line = channel.is_member ? el("p", {}, "Type ", el("code", {}, state.commands[0]?.name ?? "/"), " below to begin.") : el("p", {}, `${state.bot.name} is not a member here.`);
  return el("div", { class: "empty", "data-key": "empty" }, el("span", { class: "empty-mark", "aria-hidden": "true" }, channel.is_im ? avatar({ ...state.bot, bot: true }) : "#"), el("h2", {}, channel.is_im ? state.bot.name : `Welcome to #${channel.name}`), el("p", {}, channel.topic), line);
}

const atBottom = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < 60;
const toBottom = (list) => requestAnimationFrame(() => (list.scrollTop = list.scrollHeight));

start();
