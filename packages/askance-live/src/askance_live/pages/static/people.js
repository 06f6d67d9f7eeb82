// The people of a stream: who they are, what they may do, and the links that let them in.

import { get, logIn, post } from "./api.js";
import { byId, h, some } from "./dom.js";

const main = byId("main");
const ROLES = JSON.parse(main.dataset.roles);
const INVITATION = "invitation";
let people = [];

function tell(error) {
  if (error.status === 401) return location.assign(logIn("/people"));
  const problem = byId("problem");
  problem.textContent = error.message;
  problem.hidden = false;
  problem.scrollIntoView({ block: "nearest" });
}

// Does something with the service; what goes wrong is said on the page.
async function attempt(work) {
  byId("problem").hidden = true;
  try {
    await work();
  } catch (error) {
    tell(error);
  }
}

const pathOf = (person, action = "") => `/v1/people/${encodeURIComponent(person.id)}${action}`;

function when(time) {
  return time ? new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "";
}

function standing(person) {
  if (!person.active) return "revoked";
  if (person.last_seen) return `last seen ${when(person.last_seen)}`;
  return person.invited_until ? `invited, until ${when(person.invited_until)}` : "never logged in";
}

function row(person) {
  const isMe = person.name === main.dataset.user;
  const role = h("select", { "aria-label": `Role of ${person.name}`, disabled: isMe || !person.active });
  for (const name of ROLES) role.append(h("option", { selected: name === person.role }, name));
  role.addEventListener("change", () => act(person, "/role", { role: role.value }));
  const button = (word, work) => h("button", { type: "button", onclick: work, "aria-label": `${word}: ${person.name}` }, word);
  return h(
    "li",
    { class: "card person", data: { person: person.id, active: person.active } },
    h(
      "div",
      { class: "who" },
      h("h2", { dir: "auto" }, person.name, isMe && h("span", { class: "muted" }, " (you)")),
      person.email && h("p", { class: "muted small" }, person.email),
      h("p", { class: "muted small" }, standing(person)),
      h("p", { class: "small" }, `${some(person.labels, "label")}, ${some(person.skips, "skip")}, ${some(person.logins, "login")}`),
    ),
    h(
      "div",
      { class: "acts" },
      role,
      person.active && button(person.logins ? "Login link" : "New invitation", () => makeLink(person)),
      button("Activity", () => showActivity(person)),
      !isMe && person.active && button("Revoke", () => revoke(person)),
      !person.active && button("Restore", () => act(person, "/restore")),
    ),
  );
}

function show() {
  byId("people").replaceChildren(...people.map(row));
}

async function refresh() {
  people = (await get("/v1/people")).people;
  show();
}

function act(person, action, body = {}) {
  return attempt(async () => {
    try {
      await post(pathOf(person, action), body);
    } finally {
      await refresh();
    }
    byId("people").querySelector(`[data-person="${person.id}"] select`)?.focus();
  });
}

// The link as this browser reaches the service, whatever a proxy told it of its name.
function showLink(made) {
  const { pathname, search } = new URL(made.link);
  const isInvitation = made.kind === INVITATION;
  byId("link-title").textContent = isInvitation ? `Invitation for ${made.person.name}` : `Login link for ${made.person.name}`;
  const sent = made.sent ? `It was sent to ${made.person.email}.` : `${made.mail_problem ? `No mail was sent: ${made.mail_problem} ` : ""}Send it to them, and to nobody else.`;
  byId("link-words").textContent = `${sent} It lets one person in, once, until ${when(made.expires)}. It is shown this once.`;
  byId("link-address").value = location.origin + pathname + search;
  byId("link").hidden = false;
  byId("link-address").focus();
  byId("link-address").select();
}

function makeLink(person) {
  return attempt(async () => {
    showLink(await post(pathOf(person, "/link")));
    await refresh();
  });
}

async function revoke(person) {
  const dialog = byId("sure");
  byId("sure-title").textContent = `Revoke ${person.name}?`;
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  if (dialog.returnValue === "yes") await act(person, "/revoke");
}

function showActivity(person) {
  return attempt(async () => {
    const found = await get(pathOf(person));
    byId("activity-title").textContent = `What ${person.name} did`;
    const line = (entry) => h("li", {}, h("time", { datetime: entry.time, class: "muted" }, when(entry.time)), " ", entry.action, " ", h("code", { class: "small" }, JSON.stringify(entry.detail)));
    const labels = h("p", {}, `${some(found.person.labels, "label")} and ${some(found.person.skips, "skip")} that stand, ${some(found.person.logins, "login")}.`);
    byId("entries").replaceChildren(labels, found.entries.length ? h("ol", {}, found.entries.map(line)) : h("p", { class: "muted" }, "Nothing in the activity log yet."));
    byId("activity").showModal();
  });
}

byId("invite").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  attempt(async () => {
    const body = { name: form.elements.name.value.trim(), role: form.elements.role.value };
    if (form.elements.email.value.trim()) body.email = form.elements.email.value.trim();
    const made = await post("/v1/people", body);
    form.reset();
    showLink(made);
    await refresh().catch((error) => {
      if (error.status !== 401) throw error;
      byId("link-words").append(" From now on people log in: open this link to go on."); // the first admin's
    });
  });
});

byId("copy").addEventListener("click", async () => {
  const field = byId("link-address");
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    document.execCommand("copy"); // on plain http
  }
  byId("copy").textContent = "Copied";
  setTimeout(() => (byId("copy").textContent = "Copy"), 2000);
});

attempt(refresh);
