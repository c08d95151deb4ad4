// Slack's mrkdwn as elements. Source: docs.slack.dev, "Formatting message text".

import { el } from "./dom.js";
import { emoji } from "./emoji.js";

const names = new Map();

// Tell how ids read: people and channels as [id, name] pairs.
export function know(pairs) {
  for (const [id, name] of pairs) names.set(id, name);
}

const INLINE = new RegExp(
  [
    "`([^`\\n]+)`",
    "<([^<>\\n]+)>",
    "(?<![\\w*])\\*(?=[^\\s*])([^*\\n]*?[^\\s*])\\*(?![\\w*])",
    "(?<![\\w_])_(?=[^\\s_])([^\\n]*?[^\\s])_(?![\\w_])",
    "(?<![\\w~])~(?=[^\\s~])([^~\\n]*?[^\\s~])~(?![\\w~])",
    ":([a-z0-9_+'-]+):",
  ].join("|"),
  "g",
);

export function mrkdwn(text) {
  const nodes = [];
  for (const [index, part] of String(text ?? "").split("```").entries()) {
    if (index % 2) nodes.push(el("pre", {}, decoded(part.replace(/^\n|\n$/g, ""))));
    else if (part) nodes.push(...lines(nodes.length ? part.replace(/^\n/, "") : part));
  }
  return nodes;
}

export function plain(text) {
  return String(text ?? "").split(/(:[a-z0-9_+'-]+:)/).map((part, index) => (index % 2 ? shortcode(part.slice(1, -1)) : part));
}

// Lines with a list mark get a hanging indent, quoted ones a bar; the rest keeps its line breaks.
function lines(text) {
  const nodes = [];
  let kind = "", held = [];
  const flush = () => {
    if (!held.length) return;
    if (kind === "quote") nodes.push(el("blockquote", {}, inline(held.join("\n"))));
    else if (kind === "text") nodes.push(el("span", { class: "lines" }, inline(held.join("\n"))));
    else nodes.push(el("ul", { class: "marks" }, held.map(item)));
    held = [];
  };
  for (const line of text.split("\n")) {
    const quoted = /^(&gt;|>) ?/.exec(line);
    const next = quoted ? "quote" : MARK.test(line) ? "list" : "text";
    if (next !== kind) flush();
    kind = next;
    held.push(quoted ? line.slice(quoted[0].length) : line);
  }
  flush();
  return nodes;
}

const MARK = /^\s*([•◦▪‣–-]|\d{1,3}[.)]|:[a-z0-9_+'-]+:)\s+/;

function item(line) {
  const mark = MARK.exec(line)[1];
  const sign = mark.startsWith(":") ? shortcode(mark.slice(1, -1)) : mark.replace("-", "•");
  return el("li", { class: mark.startsWith(":") ? "signed" : "" }, el("span", { class: "mark" }, sign), inline(line.replace(MARK, "")));
}

function inline(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > from) nodes.push(decoded(text.slice(from, found.index)));
    nodes.push(styled(found));
    from = found.index + found[0].length;
  }
  if (from < text.length) nodes.push(decoded(text.slice(from)));
  return nodes;
}

function styled([whole, code, special, bold, italic, strike, short]) {
  if (code !== undefined) return el("code", {}, decoded(code));
  if (special !== undefined) return entity(special);
  if (bold !== undefined) return el("strong", {}, inline(bold));
  if (italic !== undefined) return el("em", {}, inline(italic));
  if (strike !== undefined) return el("s", {}, inline(strike));
  return short === undefined ? whole : shortcode(short);
}

function entity(inner) {
  const [target, label] = splitOnce(inner, "|");
  if (target.startsWith("@")) return mention(`@${names.get(target.slice(1)) ?? label ?? target.slice(1)}`);
  if (target.startsWith("#")) return mention(`#${names.get(target.slice(1)) ?? label ?? target.slice(1)}`);
  if (target.startsWith("!date^")) return date(target, label);
  if (target.startsWith("!subteam^")) return mention(`@${names.get(target.slice(9)) ?? label ?? "group"}`);
  if (target.startsWith("!")) return mention(`@${label ?? target.slice(1)}`);
  return link(target, label);
}

export function link(target, label) {
  const url = decoded(target);
  const safe = /^(https?:|mailto:|tel:)/i.test(url);
  const shown = label ? inline(label) : [url];
  return safe ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, shown) : el("span", {}, shown);
}

export const mention = (text) => el("span", { class: "mention" }, decoded(text));

export function shortcode(name) {
  const sign = emoji(name);
  return sign ? el("span", { class: "emoji", role: "img", "aria-label": name.replaceAll("_", " "), title: `:${name}:` }, sign) : `:${name}:`;
}

function date(target, label) {
  const [, stamp, format, url] = target.split("^");
  const moment = new Date(Number(stamp) * 1000);
  if (Number.isNaN(moment.getTime())) return decoded(label ?? "");
  const shown = el("time", { datetime: moment.toISOString(), title: label ?? "" }, dated(moment, format ?? "{date}"));
  return url ? el("a", { href: decoded(url), target: "_blank", rel: "noopener noreferrer" }, shown) : shown;
}

export function dated(moment, format) {
  const long = (keys) => moment.toLocaleDateString([], keys);
  const near = relative(moment);
  const known = {
    date_num: moment.toISOString().slice(0, 10),
    date: long({ year: "numeric", month: "long", day: "numeric" }),
    date_short: long({ year: "numeric", month: "short", day: "numeric" }),
    date_long: long({ weekday: "long", year: "numeric", month: "long", day: "numeric" }),
    date_pretty: near || long({ year: "numeric", month: "long", day: "numeric" }),
    date_short_pretty: near || long({ year: "numeric", month: "short", day: "numeric" }),
    date_long_pretty: near || long({ weekday: "long", year: "numeric", month: "long", day: "numeric" }),
    time: moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }),
    time_secs: moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }),
    ago: ago(moment),
  };
  return decoded(format.replace(/\{(\w+)\}/g, (whole, name) => known[name] ?? whole));
}

function relative(moment) {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(moment).setHours(0, 0, 0, 0)) / 86400000);
  return { 0: "today", 1: "yesterday", "-1": "tomorrow" }[days] ?? "";
}

export function ago(moment) {
  const minutes = Math.round((Date.now() - moment.getTime()) / 60000);
  if (Math.abs(minutes) < 1) return "just now";
  const [count, unit] = Math.abs(minutes) < 60 ? [minutes, "minute"] : Math.abs(minutes) < 1440 ? [Math.round(minutes / 60), "hour"] : [Math.round(minutes / 1440), "day"];
  return new Intl.RelativeTimeFormat("en").format(-count, unit);
}

export function decoded(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function splitOnce(text, sign) {
  const at = text.indexOf(sign);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
