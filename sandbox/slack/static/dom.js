// Build elements. Text always goes in as text nodes: nothing that a message holds is ever parsed as HTML.

export function el(tag, keys = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(keys)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const SHAPES = {
  menu: "M3 5h14M3 10h14M3 15h14",
  close: "M5 5l10 10M15 5L5 15",
  send: "M3 3l15 7-15 7 2.6-7zM5.6 10H11",
  eye: "M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5zM10 12.2a2.2 2.2 0 100-4.4 2.2 2.2 0 000 4.4z",
  theme: "M10 3a7 7 0 107 7 5.5 5.5 0 01-7-7z",
  reply: "M3 5.5A1.5 1.5 0 014.5 4h11A1.5 1.5 0 0117 5.5v7a1.5 1.5 0 01-1.5 1.5H9l-4 3v-3h-.5A1.5 1.5 0 013 12.5z",
  pin: "M12 3l5 5-2 .6-2.6 2.6.1 3.3-2 2-3.5-4.5L3 17l4-4-4-3.5 2-2 3.3.1L11 5z",
  warning: "M10 3l8 14H2zM10 8v4M10 14.5v.1",
  chip: "M6 6h8v8H6zM8 3v3M12 3v3M8 14v3M12 14v3M3 8h3M3 12h3M14 8h3M14 12h3",
  people: "M7.5 9.5a3 3 0 100-6 3 3 0 000 6zM2 16.5c0-3 2.5-5 5.5-5s5.5 2 5.5 5M13 4a2.7 2.7 0 010 5.200M15 11.7c1.9.6 3 2.300 3 4.800",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("glyph");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[name]);
  svg.append(path);
  return svg;
}

const HUES = [262, 205, 22, 340, 168, 45, 290, 128];

export function avatar(person, size = "") {
  const mark = el("span", { class: `avatar ${size}`, "aria-hidden": "true" });
  if (person.bot) {
    mark.classList.add("avatar-bot");
    mark.append(icon("chip"));
  } else if (person.system) {
    mark.classList.add("avatar-system");
    mark.append(icon("warning"));
  } else {
    const sum = [...person.id].reduce((total, letter) => (total * 31 + letter.charCodeAt(0)) % 9973, 7);
    mark.style.setProperty("--hue", HUES[sum % HUES.length]);
    const parts = person.name.split(/[-_. ]+/);
    mark.append((parts[0][0] + (parts[1] ? parts[1][0] : "")).toUpperCase());
  }
  return mark;
}

export function clock(ts, options = { hour: "2-digit", minute: "2-digit" }) {
  return new Date(Number(ts) * 1000).toLocaleTimeString([], options);
}

export function day(ts) {
  const date = new Date(Number(ts) * 1000);
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86400000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return date.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}
