// Draw rich_text blocks: the form in which Slack keeps what people type.

import { el } from "./dom.js";
import { dated, link, mention, mrkdwn, shortcode } from "./mrkdwn.js";

export function richText(block) {
  const nodes = [];
  let list = null;
  for (const part of block.elements ?? []) {
    if (part.type !== "rich_text_list") list = null;
    if (part.type === "rich_text_list") {
      list = el(part.style === "ordered" ? "ol" : "ul", { class: "rich-list" }, part.elements.map((row) => el("li", {}, inline(row))));
      list.style.setProperty("--indent", part.indent ?? 0);
      nodes.push(list);
    } else if (part.type === "rich_text_preformatted") nodes.push(el("pre", {}, inline(part)));
    else if (part.type === "rich_text_quote") nodes.push(el("blockquote", {}, inline(part)));
    else nodes.push(el("div", { class: "lines" }, inline(part)));
  }
  return nodes;
}

function inline(part) {
  return (part.elements ?? []).map((leaf) => styled(leaf.style, drawn(leaf)));
}

function drawn(leaf) {
  switch (leaf.type) {
    case "text":
      return leaf.text;
    case "link":
      return link(leaf.url, leaf.text);
    case "emoji":
      return shortcode(leaf.name);
    case "user":
      return mrkdwn(`<@${leaf.user_id}>`)[0];
    case "channel":
      return mrkdwn(`<#${leaf.channel_id}>`)[0];
    case "usergroup":
      return mrkdwn(`<!subteam^${leaf.usergroup_id}>`)[0];
    case "broadcast":
      return mention(`@${leaf.range}`);
    case "date":
      return dated(new Date(leaf.timestamp * 1000), leaf.format);
    default:
      return leaf.fallback ?? "";
  }
}

function styled(style, node) {
  const tags = { bold: "strong", italic: "em", strike: "s", code: "code" };
  return Object.entries(tags).reduce((inner, [key, tag]) => (style?.[key] ? el(tag, {}, inner) : inner), node);
}
