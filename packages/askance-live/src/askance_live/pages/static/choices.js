// The classes as buttons, each with its key; where there are many, a box to find one by name. Of label sets they are
// boxes to tick, those that a question is about.

import { byId, h, percent } from "./dom.js";
import { keyOf } from "./keys.js";
import { nameOf } from "./names.js";

const LONG_NAME = 22; // characters from which a name gets both columns of a phone
const MANY = 9; // classes that have a digit; with more there is a box to find one
const TOO_MANY = 16; // for a phone to show without scrolling

export class Choices {
  #buttons = [];
  #onchoose;
  #areSets;
  #asked = null; // the labels of a set that the question is about

  constructor(classes, areSets, onchoose) {
    this.#onchoose = onchoose;
    this.#areSets = areSets;
    if (matchMedia("(hover: none) and (pointer: coarse)").matches) byId("find").placeholder = "Find a class";
    byId("find").addEventListener("input", () => this.#filter());
    this.use(classes);
  }

  // These are the classes from now on.
  use(classes) {
    const box = byId("classes");
    box.dataset.count = classes.length > MANY ? "many" : classes.length > 4 ? "some" : "few";
    this.#buttons = classes.map((label, place) => {
      const key = keyOf(place);
      const name = nameOf(label);
      const isLong = name.length > LONG_NAME;
      return h(
        "button",
        { type: "button", class: isLong ? "choice long" : "choice", data: { label, name }, title: isLong ? name : null, "aria-keyshortcuts": key || null, role: this.#areSets ? "checkbox" : null, "aria-checked": this.#areSets ? "false" : null, onclick: (event) => this.#choose(event) },
        key && h("kbd", {}, key),
        h("span", { class: "name", dir: "auto" }, name),
        h("span", { class: "chance" }),
        h("span", { class: "bar", "aria-hidden": "true" }),
      );
    });
    box.replaceChildren(...this.#buttons);
    byId("finder").hidden = classes.length <= MANY;
    byId("finder").classList.toggle("wide-only", classes.length <= TOO_MANY);
    this.#filter();
  }

  #choose(event) {
    this.#onchoose(event.currentTarget.dataset.label, event);
    this.clearFind();
  }

  // Of label sets: tick a box, or take the tick away; one that the question is not about has none.
  toggle(label) {
    const button = this.#buttons.find((other) => other.dataset.label === label);
    if (this.#asked?.has(label)) button.setAttribute("aria-checked", String(button.getAttribute("aria-checked") !== "true"));
  }

  // The labels that are ticked.
  get ticked() {
    return this.#buttons.filter((button) => button.getAttribute("aria-checked") === "true").map((button) => button.dataset.label);
  }

  // The suggestion and its chances; nothing where the question is blind.
  show(ask) {
    this.#asked = this.#areSets ? new Set(ask?.about ?? []) : null;
    this.#filter();
    byId("classes").scrollTop = 0;
    const chances = ask?.suggestion?.probabilities ?? {};
    for (const button of this.#buttons) {
      const chance = chances[button.dataset.label];
      const suggested = !this.#areSets && ask?.suggestion?.label === button.dataset.label;
      if (this.#areSets) button.setAttribute("aria-checked", String(Boolean(ask?.suggestion?.label.includes(button.dataset.label))));
      button.disabled = !ask;
      button.classList.toggle("suggested", suggested);
      const words = button.querySelector(".chance");
      words.textContent = chance === undefined || (chance < 0.05 && !suggested && this.#buttons.length > MANY) ? "" : percent(chance);
      if (suggested) words.prepend(h("span", { class: "hidden" }, "suggested, "), h("kbd", { title: "Enter" }, this.#buttons.length > MANY ? "↵" : "Enter"));
      button.style.setProperty("--chance", String(chance >= 0.03 ? chance : 0));
      if (suggested) button.scrollIntoView({ block: "nearest" });
    }
  }

  openFind() {
    if (byId("finder").hidden) return false;
    byId("find").focus();
    byId("find").select();
    return true;
  }

  clearFind() {
    if (!byId("find").value) return;
    byId("find").value = "";
    this.#filter();
  }

  #filter() {
    const wanted = byId("find").value.trim().toLocaleLowerCase();
    let isFirst = Boolean(wanted);
    for (const button of this.#buttons) {
      const isAsked = this.#asked?.has(button.dataset.label) ?? true;
      button.hidden = !isAsked || ![button.dataset.label, button.dataset.name].some((word) => word.toLocaleLowerCase().includes(wanted));
      button.classList.toggle("first", isFirst && !button.hidden);
      if (!button.hidden) isFirst = false;
    }
  }

  // Enter takes the first class found, Escape gives up.
  onFindKey(event) {
    if (event.isComposing || event.repeat || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    const found = byId("find").value.trim() && this.#buttons.find((button) => !button.hidden);
    if (event.key === "Enter" && !found) return;
    byId("find").blur();
    this.clearFind();
    if (event.key === "Enter") found.click();
    else document.querySelector("#stage .item")?.focus({ preventScroll: true });
  }
}
