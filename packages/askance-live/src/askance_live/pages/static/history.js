// One's last answers: what was said, whether it arrived, and the way to take it back.

import { get } from "./api.js";
import { byId, h } from "./dom.js";
import { inWords } from "./labels.js";

const SHOWN = 50;
const WORDS = {
  waiting: "on its way", saved: "saved", learned: "learned", extra: "saved; another was first", undone: "taken back",
  superseded: "replaced", skipped: "saved", refused: "refused", undoing: "being taken back",
};
const REASONS = { unsure: "unsure", bad_data: "bad data", later: "later" };

export class History {
  entries = []; // newest first: {id, ask, label, reason, summary, state, detail}
  #ontake;

  constructor(ontake) {
    this.#ontake = ontake;
    byId("history-list").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.#ontake(this.entries.find((entry) => entry.id === button.dataset.id));
    });
  }

  async load() {
    const { answers } = await get(`/v1/answers?mine=1&limit=${SHOWN}`);
    const known = new Set(this.entries.map((entry) => entry.id));
    for (const answer of answers) {
      if (known.has(answer.answer_id) || answer.kind === "label") continue;
      const { answer_id: id, label, reason, summary, state, ask } = answer;
      this.entries.push({ id, askId: ask, ask: null, label, reason, summary, state, isOld: !answer.undoable });
    }
    this.draw();
  }

  add(entry) {
    this.entries.unshift(entry);
    this.entries.length = Math.min(this.entries.length, SHOWN);
    this.draw();
  }

  set(id, state, detail = "") {
    const entry = this.entries.find((other) => other.id === id);
    if (!entry) return null;
    Object.assign(entry, { state, detail });
    this.draw();
    return entry;
  }

  // A question's answers are taken back: where one was given twice, as from two devices, they are one.
  takenBack(askId) {
    const twice = this.entries.filter((entry) => entry.askId === askId && entry.label && ["saved", "learned", "extra"].includes(entry.state));
    for (const entry of twice) this.set(entry.id, "undone");
  }

  // The newest answer that can still be taken back.
  newest() {
    return this.entries.find(canUndo) ?? null;
  }

  draw() {
    const list = byId("history-list");
    const focused = document.activeElement?.closest?.("#history-list button")?.dataset.id;
    list.replaceChildren(...this.entries.map(entryView));
    if (this.entries.length === 0) list.append(h("li", { class: "muted small" }, "Nothing yet."));
    if (focused) list.querySelector(`button[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  // Move the focus by one: 1 to older, -1 to newer answers. False: there is nowhere to go.
  move(step) {
    const buttons = [...byId("history-list").querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const target = buttons[at < 0 ? (step > 0 ? 0 : -1) : at + step];
    target?.focus();
    return Boolean(target);
  }
}

export function canUndo(entry) {
  return !entry.isOld && !["undone", "undoing", "refused", "superseded"].includes(entry.state);
}

function entryView(entry) {
  const said = inWords(entry.label) || REASONS[entry.reason] || "";
  const row = [
    h("b", { class: entry.label === null || entry.label === undefined ? "pill skip-pill" : "pill", dir: "auto" }, said),
    h("span", { class: "summary", dir: "auto" }, entry.summary),
    h("span", { class: "muted small state" }, entry.detail || WORDS[entry.state] || entry.state),
  ];
  return h(
    "li",
    { data: { state: entry.state } },
    canUndo(entry)
      ? h("button", { type: "button", data: { id: entry.id }, "aria-label": `Take back ${said}: ${entry.summary}` }, row)
      : h("div", {}, row),
  );
}
