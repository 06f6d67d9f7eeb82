// The classes of a stream and the kinds of its fields. What a change does is shown before it is made.

import { get, logIn, post } from "./api.js";
import { byId, h, some } from "./dom.js";

const KINDS = JSON.parse(byId("main").dataset.kinds);
const GUESSED = "";
const LONG = 3_600_000; // ms: a model that is made anew from a long log takes its time
let known = { classes: [], fields: [], more_fields: 0, scheme: 0 };

async function attempt(work) {
  byId("problem").hidden = true;
  try {
    await work();
  } catch (error) {
    if (error.status === 401) return location.assign(logIn("/classes"));
    const problem = byId("problem");
    problem.textContent = error.message;
    problem.hidden = false;
    problem.scrollIntoView({ block: "nearest" });
  }
}

async function closed(dialog) {
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  return dialog.returnValue === "yes";
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// Ask what a change does, show it, and make it if that is wanted; whether it was made.
async function change(title, wanted) {
  const body = { ...wanted, expected: known.scheme };
  const told = await post("/v1/classes", { ...body, dry_run: true }, { timeout: LONG });
  byId("sure-title").textContent = title;
  byId("effects").replaceChildren(...told.effects.map((words) => h("li", { dir: "auto" }, `${capital(words)}.`)));
  if (!(await closed(byId("sure")))) return false;
  say(told.rebuilds ? "The model is being made anew …" : "");
  try {
    await post("/v1/classes", body, { timeout: LONG });
  } finally {
    say("");
    await refresh();
  }
  say("Changed. Open label pages learn of it by themselves.");
  return true;
}

function say(words) {
  byId("done").textContent = words;
  byId("done").hidden = !words;
}

async function rename(found) {
  byId("rename-title").textContent = `Rename ${found.name}`;
  byId("new-name").value = found.name;
  if (!(await closed(byId("rename")))) return;
  await attempt(() => change(`Rename ${found.name}?`, { rename: { [found.label]: byId("new-name").value.trim() } }));
}

function row(found) {
  const button = (word, work) => h("button", { type: "button", onclick: work, "aria-label": `${word}: ${found.name}` }, word);
  const offer = (word, wanted) => () => attempt(() => change(`${word} ${found.name}?`, wanted));
  return h(
    "li",
    { class: "card person", data: { label: found.label, active: !found.retired } },
    h(
      "div",
      { class: "who" },
      h("h2", { dir: "auto" }, found.name),
      found.name !== found.label && h("p", { class: "muted small", dir: "auto" }, `Programs call it ${found.label}`),
      h("p", { class: "small" }, some(found.answers, "answer"), found.retired && h("span", { class: "muted" }, ", retired: no longer offered nor predicted"), !found.retired && found.added && h("span", { class: "muted" }, ", added later")),
    ),
    h(
      "div",
      { class: "acts" },
      button("Rename", () => rename(found)),
      found.retired ? button("Restore", offer("Restore", { restore: [found.label] })) : button("Retire", offer("Retire", { retire: [found.label] })),
    ),
  );
}

function fieldRow(found) {
  const choice = h("select", { "aria-label": `Kind of ${found.field}` });
  const guessed = found.given ? "guessed" : `guessed: ${found.kind ?? "nothing yet"}`;
  choice.append(h("option", { value: GUESSED, selected: !found.given }, guessed));
  for (const kind of KINDS) choice.append(h("option", { value: kind, selected: kind === found.given }, kind));
  choice.addEventListener("change", () =>
    attempt(async () => {
      try {
        await change(`Change the kind of ${found.field}?`, { fields: { [found.field]: choice.value || null } });
      } finally {
        choice.value = known.fields.find((other) => other.field === found.field)?.given ?? GUESSED;
      }
    }),
  );
  return h("li", {}, h("span", { dir: "auto", class: "field-name" }, found.field), choice);
}

async function refresh() {
  known = await get("/v1/classes");
  byId("classes").replaceChildren(...known.classes.map(row));
  byId("fields").replaceChildren(...known.fields.map(fieldRow));
  if (!known.fields.length) byId("fields").replaceChildren(h("li", { class: "muted" }, "No event has come yet."));
  byId("more-fields").hidden = !known.more_fields;
  byId("more-fields").textContent = `${some(known.more_fields, "more field")}: change them with askance classes kind.`;
}

byId("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  attempt(async () => {
    const [label, name] = ["label", "name"].map((field) => form.elements[field].value.trim());
    const isMade = await change(`Add ${name || label}?`, { add: [label], ...(name && name !== label && { rename: { [label]: name } }) });
    if (isMade) form.reset();
    byId("label").focus();
  });
});

attempt(refresh);
