// One question as elements: its texts large, with the words that drove the suggestion, its other fields as a table.

import { appendAll, byId, clock, h, percent } from "./dom.js";
import { write } from "./exact.js";
import { inWords } from "./labels.js";
import { linkTo, written } from "./written.js";

const WORD = /[\p{L}\p{N}_]+/gu;
const LONG_TEXT = 60; // characters from which a text is read rather than looked up
const SHOWN_AT_FIRST = 6000;
const FAIRLY_SURE = 0.8; // as in the service's sentence
const WHY = { uncertain: "Uncertain", audit: "Random check", cold_start: "First labels" };

const display = JSON.parse(byId("app").dataset.display); // fields of a kind, and from where images and sound may come

export function itemView(ask) {
  const { effects, strongest } = effectsOf(ask);
  const fields = ask.event.fields;
  const texts = textFields(fields, ask.explanation ?? []);
  const rest = Object.keys(fields).filter((name) => !texts.includes(name));
  const only = texts.length === 1;
  return h(
    "article",
    { class: "item", tabindex: "0", "aria-label": `Question about event ${ask.event.id}` },
    h("h2", { class: "hidden", dir: "auto" }, `Event ${ask.event.id}`),
    whyView(ask),
    h(
      "div",
      { class: "readable" },
      display.images.map((name) => pictureView(name, fields[name])),
      display.audio.map((name) => soundView(name, fields[name])),
      texts.map((name) => textView(name, fields[name], effects.get(name), strongest, only && rest.length === 0)),
      rest.length > 0 && fieldsView(rest, fields, effects, strongest),
      texts.length + rest.length === 0 && h("p", { class: "muted" }, "This event has no fields."),
    ),
    h("pre", { class: "raw", hidden: true, dir: "auto" }),
    h(
      "p",
      { class: "muted small meta" },
      h("span", { dir: "auto" }, `event ${ask.event.id}`),
      ` · came in ${clock(ask.event.received)}`,
      ask.skips > 0 && ` · ${ask.skips} unsure before you`,
    ),
  );
}

// Raw JSON instead of the readable form, or back.
export function showRaw(view, ask, raw) {
  const pre = view.querySelector(".raw");
  if (raw && !pre.textContent) pre.textContent = write(ask.event, 2);
  pre.hidden = !raw;
  view.querySelector(".readable").hidden = raw;
}

// What a screen reader says when a question appears.
export function announcementOf(ask) {
  const { suggestion } = ask;
  const about = ask.about ? `Which of ${ask.about.join(", ")}? ` : "";
  return `${summaryOf(ask, 300)}. ${about}${suggestion ? `Suggested: ${inWords(suggestion.label)}, ${percent(suggestion.probability)}.` : "No suggestion."}`;
}

// A line about a question, for the history.
export function summaryOf(ask, most = 120) {
  const texts = Object.values(ask.event.fields).filter((value) => typeof value === "string");
  const longest = texts.reduce((a, b) => (b.length > a.length ? b : a), "");
  const pairs = Object.entries(ask.event.fields).slice(0, 6).map(([name, value]) => `${name}: ${plain(value)}`);
  return (longest.length > 15 ? longest : pairs.join(", ")).slice(0, most);
}

function whyView(ask) {
  const code = ask.why?.code ?? "uncertain";
  const isSure = code === "uncertain" && ask.suggestion?.probability >= FAIRLY_SURE;
  return h(
    "p",
    { class: "why", data: { code } },
    h("b", { class: "pill" }, isSure ? "Fairly sure" : (WHY[code] ?? code)),
    h("span", { dir: "auto" }, ask.why?.text ?? ""),
  );
}

function effectsOf(ask) {
  const effects = new Map();
  let strongest = 0;
  for (const { field, word, effect } of ask.explanation ?? []) {
    if (!effects.has(field)) effects.set(field, { words: new Map(), whole: 0 });
    if (word === null) effects.get(field).whole += effect;
    else effects.get(field).words.set(word, effect);
    strongest = Math.max(strongest, Math.abs(effect));
  }
  return { effects, strongest };
}

function textFields(fields, explanation) {
  const texts = Object.keys(fields).filter((name) => typeof fields[name] === "string" && !addressOf(name, fields[name]));
  const long = texts.filter((name) => fields[name].length >= LONG_TEXT || fields[name].includes("\n") || isRich(name));
  if (long.length > 0) return long;
  // Only short ones: a text by its words, else the longest.
  const spoken = new Set(explanation.filter((item) => item.word !== null).map((item) => item.field));
  const first = texts.sort((a, b) => spoken.has(b) - spoken.has(a) || fields[b].length - fields[a].length)[0];
  return first && (spoken.has(first) || fields[first].length > 15) ? [first] : [];
}

function textView(name, value, effects, strongest, only) {
  const body = h("div", { class: "text", dir: isRich(name) ? null : "auto" }); // rich text has it in each part
  if (value.length > 1200) body.classList.add("long");
  const start = value.length > 1.2 * SHOWN_AT_FIRST ? value.slice(0, SHOWN_AT_FIRST).replace(/[\ud800-\udbff]$/, "") : value;
  if (isRich(name)) body.classList.add("written");
  const words = (text) => highlighted(text, effects, strongest);
  const shown = (text) => (isRich(name) ? written(text, words) : words(text));
  appendAll(body, shown(start));
  const more =
    start.length < value.length &&
    h("button", {
      type: "button",
      class: "quiet more",
      onclick: (event) => {
        body.replaceChildren();
        appendAll(body, shown(value));
        event.currentTarget.remove();
      },
    }, `Show all ${value.length.toLocaleString("en")} characters`);
  return h("section", { class: "text-field" }, !only && h("h3", { dir: "auto" }, name), body, more);
}

// Text nodes, with <mark> around words that moved the score.
function highlighted(text, effects, strongest) {
  if (!effects?.words.size) return [text];
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(WORD)) {
    const effect = effects.words.get(found[0].toLowerCase());
    if (effect === undefined) continue;
    parts.push(text.slice(from, found.index), h("mark", { class: toneOf(effect, strongest) }, found[0]));
    from = found.index + found[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

function toneOf(effect, strongest) {
  const share = Math.abs(effect) / (strongest || 1);
  return `${effect > 0 ? "towards" : "against"} s${share > 0.66 ? 3 : 2}`;
}

function fieldsView(names, fields, effects, strongest) {
  return h(
    "dl",
    { class: names.length > 8 ? "fields many" : "fields" },
    names.map((name) => {
      const whole = effects.get(name)?.whole ?? 0;
      const words = plain(fields[name]);
      const address = addressOf(name, fields[name]);
      const value = h("dd", { dir: "auto" }, address ? linkTo(address.href, words) : whole ? h("mark", { class: toneOf(whole, strongest) }, words) : highlighted(words, effects.get(name), strongest));
      if (fields[name] === null || fields[name] === "") value.classList.add("muted");
      return h("div", {}, h("dt", { dir: "auto" }, name), value);
    }),
  );
}

const isRich = (name) => display.rich_text.includes(name);
const ADDRESSES = new Set([...display.links, ...display.images, ...display.audio]);

// Where a field leads, if it is to be shown as a link, an image or sound and is an address of the web.
function addressOf(name, value) {
  if (typeof value !== "string" || !ADDRESSES.has(name)) return null;
  const address = URL.canParse(value) ? new URL(value) : null;
  return address && ["http:", "https:"].includes(address.protocol) ? address : null;
}

function pictureView(name, value) {
  const address = addressOf(name, value);
  if (!address || !display.image_hosts.includes(address.origin)) return null; // it is a link among the other fields
  return h("p", { class: "picture" }, linkTo(address.href, h("img", { src: address.href, alt: `${name} of the event`, referrerpolicy: "no-referrer" })));
}

// Fetched when somebody plays it. The policy of the page for referrers holds: there is none for other hosts.
function soundView(name, value) {
  const address = addressOf(name, value);
  if (!address || !display.audio_hosts.includes(address.origin)) return null;
  return h("p", { class: "sound" }, h("audio", { src: address.href, controls: true, preload: "none", "aria-label": `${name} of the event` }));
}

function plain(value) {
  if (value === null) return "null";
  if (value === "") return "(empty)";
  return typeof value === "object" ? write(value) : String(value);
}
