// The review page: events found by a filter, compared, corrected, closed and noted.

import { get, logIn, post, root } from "./api.js";
import { byId, count, h, percent, some } from "./dom.js";
import { differ, inWords } from "./labels.js";
import { useNames } from "./names.js";

useNames(JSON.parse(byId("main").dataset.names));
const form = byId("filter");
const chosen = new Set();
let shown = []; // the events on the page
let next = null; // where the next page begins
let turn = 0; // of the newest search: older ones are too late

form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
form.addEventListener("reset", () => setTimeout(search)); // once the fields are empty
byId("more").addEventListener("click", () => load(next));
byId("all").addEventListener("change", (event) => {
  for (const box of document.querySelectorAll("#events input[type=checkbox]")) {
    box.checked = event.target.checked;
    choose(box.value, box.checked);
  }
});
byId("correct").addEventListener("click", () => act("correct", { label: newLabel() }));
byId("close").addEventListener("click", () => act("close", {}));
byId("reason").addEventListener("input", drawChosen);

fillIn(new URLSearchParams(location.search));
search();
drawAgreement();

function newLabel() {
  const box = byId("new-label");
  return box.multiple ? [...box.selectedOptions].map((option) => option.value) : box.value;
}

function fillIn(given) {
  for (const [name, value] of given) if (form.elements[name]) form.elements[name].value = value;
}

function wanted() {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value) given.set(name, value);
  return given;
}

async function search() {
  const given = wanted();
  history.replaceState(null, "", `${location.pathname}${given.size ? `?${given}` : ""}`);
  given.delete("sort");
  for (const link of document.querySelectorAll("[data-export]")) link.href = `${root}/v1/export.${link.dataset.export}?${given}`;
  chosen.clear();
  byId("all").checked = false;
  await load(null);
}

async function load(cursor) {
  const mine = ++turn;
  const given = wanted();
  if (cursor) given.set("cursor", cursor);
  let page;
  try {
    page = await get(`/v1/review?${given}`);
  } catch (error) {
    return mine === turn && say(error);
  }
  if (mine !== turn) return;
  say(null);
  if (!cursor) byId("events").replaceChildren();
  shown = cursor ? [...shown, ...page.events] : page.events;
  byId("events").append(...page.events.map(view));
  if (!shown.length) byId("events").append(h("li", { class: "muted" }, "No event is like this."));
  next = page.next;
  byId("more").hidden = !next;
  drawChosen();
}

function say(error) {
  if (error?.status === 401) return location.assign(logIn("/review"));
  const text = error ? error.message[0].toUpperCase() + error.message.slice(1) : "";
  byId("message").hidden = !text;
  byId("message").textContent = text;
}

// --- an event ------------------------------------------------------------------------------------------------

function view(event) {
  const wrong = event.label !== null && differ(event.label, event.predicted);
  const [first, ...others] = event.answers.map((answer) => answer.label);
  const areTold = others.some((label) => differ(first, label));
  const box = h("input", { type: "checkbox", value: event.id, "aria-label": `Choose ${event.id}` });
  box.addEventListener("change", () => choose(event.id, box.checked));
  return h(
    "li", { class: "card", data: { event: event.id } },
    h("div", { class: "event-head" }, h("label", { class: "check" }, box, h("b", { dir: "auto" }, event.id)),
      event.state && h("span", { class: "pill", data: { state: event.state } }, event.state),
      wrong && h("span", { class: "pill", data: { state: "wrong" } }, "not as predicted"),
      areTold && h("span", { class: "pill", data: { state: "disputed" } }, "people differ")),
    h("p", { dir: "auto" }, event.summary),
    h("dl", { class: "facts small" },
      fact("Label", event.label === null ? "none" : `${inWords(event.label)}, by ${event.by}`),
      fact("Predicted", `${inWords(event.predicted)} at ${percent(event.probability)}`),
      fact("Came", new Date(event.received).toLocaleString())),
    event.why && h("p", { class: "muted small" }, event.why),
    details(event),
  );
}

function fact(name, value) {
  return h("div", {}, h("dt", { class: "muted" }, name), h("dd", { dir: "auto" }, value));
}

function details(event) {
  const notes = h("ul", { class: "notes" }, event.notes.map(noteView));
  const text = h("input", { type: "text", maxlength: 2000, "aria-label": `A note on ${event.id}`, placeholder: "A note", autocomplete: "off" });
  const write = h("form", { class: "note-form" }, text, h("button", {}, "Add"));
  const summary = h("summary", {}, summaryOf(event));
  write.addEventListener("submit", async (submitted) => {
    submitted.preventDefault();
    if (!text.value.trim()) return;
    try {
      const note = await post("/v1/review/note", { event: event.id, text: text.value.trim() });
      event.notes.push(note);
      notes.append(noteView(note));
      summary.textContent = summaryOf(event);
      text.value = "";
      say(null);
    } catch (error) {
      say(error);
    }
  });
  const answers = event.answers.map((answer) => h("li", { dir: "auto" }, `${answer.by}: ${inWords(answer.label)}${answer.comment ? ` (${answer.comment})` : ""}, ${answer.state}`));
  return h("details", {}, summary, h("ul", { class: "notes" }, answers), notes, write);
}

function summaryOf(event) {
  return `${some(event.answers.length, "answer")}, ${some(event.notes.length, "note")}`;
}

function noteView(note) {
  return h("li", { dir: "auto" }, h("b", {}, `${note.by}: `), note.text);
}

// --- several events ------------------------------------------------------------------------------------------

function choose(id, is) {
  if (is) chosen.add(id);
  else chosen.delete(id);
  drawChosen();
}

function drawChosen() {
  const can = chosen.size > 0 && byId("reason").value.trim() !== "";
  byId("correct").disabled = byId("close").disabled = !can;
  const hint = chosen.size && !can ? " Give a reason to correct or close." : "";
  byId("chosen").textContent = (chosen.size ? `${some(chosen.size, "event")} chosen.` : "No event is chosen.") + hint;
}

async function act(what, more) {
  const body = { events: [...chosen], reason: byId("reason").value.trim(), ...more };
  byId("correct").disabled = byId("close").disabled = true;
  try {
    const done = await post(`/v1/review/${what}`, body);
    const failed = done.items.filter((item) => item.status >= 400);
    byId("reason").value = "";
    await search();
    byId("chosen").textContent = `${some(done.done, "event")} ${what === "close" ? "closed" : "corrected"}.`;
    if (failed.length) say(new Error(`${some(failed.length, "event")} could not be: ${failed[0].detail}`));
  } catch (error) {
    say(error);
    drawChosen();
  }
}

async function drawAgreement() {
  const found = await get("/v1/agreement").catch(() => null); // it needs the scope read
  if (!found?.events) return;
  const { estimate, low, high } = found.alpha;
  const alpha = estimate === null ? "" : ` Krippendorff's alpha is ${estimate.toFixed(2)}${low === null ? "" : ` (${low.toFixed(2)} to ${high.toFixed(2)})`}.`;
  const people = found.people.slice(0, 6).map(({ name, compared, agreed }) => `${name} ${percent(agreed.estimate)} of ${count(compared)} (${percent(agreed.low)} to ${percent(agreed.high)})`).join(", ");
  byId("agreement").textContent = `Several people labeled ${some(found.events, "event")}.${alpha} As most of the others: ${people}.`;
  byId("agreement").hidden = false;
}
