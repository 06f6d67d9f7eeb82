// The label page: one question at a time, answered by a key.

import { get, logIn, newId, root, speakTo, watchClasses } from "./api.js";
import { BY_TOPIC, Deck } from "./deck.js";
import { byId, count, h, some } from "./dom.js";
import { canUndo, History } from "./history.js";
import { announcementOf, itemView, showRaw, summaryOf } from "./item.js";
import { isTyping, LETTERS, meaning } from "./keys.js";
import { nameOf, useNames } from "./names.js";
import { Choices } from "./choices.js";
import { emptyView } from "./empty.js";
import { inWords } from "./labels.js";
import { Outbox } from "./outbox.js";
import * as shelf from "./shelf.js";
import { Tabs } from "./tabs.js";
import { writeAll } from "./written.js";

const TOO_FAST = 80; // ms: no one reads a question in less, so the key bounced
const TOO_FAST_CLICK = 350; // ms: the second half of a double click
const SAID_BEFORE = "already_answered"; // the code of that problem
const WRONG = 422; // the status of a request that is wrong in itself, such as a label that is retired
const LOOK = 15_000; // ms between looks for other classes, while a question lies on the table
const SKIPS = { unsure: "Unsure", bad_data: "Bad data", later: "Later" };

const app = byId("app");
let classes = JSON.parse(app.dataset.classes);
const areSets = app.dataset.labelSets === "true";
useNames(JSON.parse(app.dataset.names));
const views = new Map(); // ask id -> its element, made before it is needed
let me = { name: app.dataset.user, title: app.dataset.title, lease_seconds: 600 };
let outbox, tabs, deck;
let shown = null; // the ask on the table
let shownAt = 0;
let raw = false;
let answered = 0;
let toastTimer = 0;

const choices = new Choices(classes, areSets, (label, event) => {
  if (event.detail > 0) backToItem(); // a mouse leaves no focus behind for Space to find
  if (areSets) choices.toggle(label);
  else if (shown && !tooSoon(event)) answer(label);
});
const hasRoomForHistory = matchMedia("(min-width: 1180px)"); // as in askance.css
const history = new History((entry) => takeBack(entry));

start();

async function start() {
  try {
    me = await get("/v1/me");
    shelf.put(`askance:me:${root}`, me);
  } catch (error) {
    if (error.status === 401) return location.assign(logIn("/label"));
    const known = shelf.take(`askance:me:${root}`);
    if (known && known.title === me.title && known.name === me.name) me = known;
  }
  if (me.store) speakTo(me.store, me.name);
  useClasses(me);
  watchClasses(me.scheme, learnClasses);
  setInterval(() => document.hidden || get("/v1/me").catch(() => {}), LOOK);
  const scope = encodeURIComponent(`${me.store} ${me.name}`);
  tabs = new Tabs(scope, (ids) => deck.drop(ids));
  outbox = new Outbox(scope, tabs, onOutbox, onResult);
  deck = new Deck(tabs, outbox, me.lease_seconds, draw);
  document.addEventListener("keydown", onKey);
  addEventListener("beforeunload", (event) => shelf.isSafe() || event.preventDefault());
  wireButtons();
  openInstructionsAtFirst(scope);
  outbox.flush();
  await deck.fill();
  history.load().catch(() => history.draw());
  keepForOffline().catch(() => {}); // a private window, or plain http: the page works, but not without the network
}

async function keepForOffline() {
  if (!navigator.serviceWorker || !globalThis.caches) return;
  await navigator.serviceWorker.register(`${root}/worker.js`);
  await navigator.serviceWorker.ready; // before that, nobody would answer for what is kept
  const parts = performance.getEntriesByType("resource").map((entry) => new URL(entry.name).pathname);
  const cache = await caches.open("askance-label");
  await cache.addAll([`${root}/label`, ...new Set(parts.filter((path) => path.includes("/static/")))]);
  document.documentElement.dataset.kept = "true";
}

// --- the classes -------------------------------------------------------------------------------------------------

function useClasses(known) {
  if (!known.classes) return false; // kept by an earlier page
  const before = JSON.stringify([classes, classes.map(nameOf)]);
  classes = known.classes;
  useNames(known.names);
  if (JSON.stringify([classes, classes.map(nameOf)]) === before) return false;
  choices.use(classes);
  tellKeys();
  return true;
}

// Somebody has changed the classes: the question on the table gets the new choices.
async function learnClasses() {
  let known;
  try {
    known = await get("/v1/me");
  } catch {
    return; // the next answer of the service says so again
  }
  shelf.put(`askance:me:${root}`, known);
  const before = classes;
  if (!useClasses(known)) return;
  for (const ask of deck?.asks ?? []) forgetRetired(ask);
  choices.show(shown);
  const list = (labels) => labels.map(nameOf).join(", ");
  const added = classes.filter((label) => !before.includes(label));
  const gone = before.filter((label) => !classes.includes(label));
  const words = [added.length && `New: ${list(added)}.`, gone.length && `No longer offered: ${list(gone)}.`].filter(Boolean);
  toast(`The classes have changed. ${words.join(" ")}`.trim());
}

function forgetRetired(ask) {
  if (ask.suggestion && !areSets && !classes.includes(ask.suggestion.label)) ask.suggestion = null;
}

function tellKeys() {
  byId("letters").textContent = classes.length > 9 ? `, A–${LETTERS[Math.min(classes.length - 10, LETTERS.length - 1)].toUpperCase()}` : "";
  byId("find-help").hidden = classes.length <= 9;
}

// --- what is on the table ------------------------------------------------------------------------------------

function draw() {
  const ask = deck.current;
  for (const next of deck.asks) if (!views.has(next.id)) views.set(next.id, itemView(next));
  if (ask !== shown) show(ask);
  if (!ask) drawEmpty();
  for (const id of views.keys()) if (!deck.asks.some((other) => other.id === id)) views.delete(id);
  drawBadge();
}

function drawEmpty() {
  const view = emptyView(deck, outbox);
  const before = byId("stage").firstElementChild;
  if (before?.textContent !== view.textContent) byId("stage").replaceChildren(view); // else a screen reader says it again
}

function show(ask) {
  const hadFocus = document.activeElement;
  shown = ask;
  shownAt = performance.now();
  byId("comment").value = "";
  byId("comment-row").hidden = true;
  app.dataset.empty = String(!ask);
  choices.show(ask); // once they can be seen, so that the suggested one scrolls into view
  setRaw(false);
  byId("announcement").textContent = ask ? announcementOf(ask) : ""; // of the focus a screen reader says the name alone
  if (!ask) return;
  byId("stage").replaceChildren(views.get(ask.id));
  byId("main").scrollTop = 0;
  scrollTo(0, 0); // where the screen is too low, the whole page scrolls
  // The focus follows the question, except where the person is busy elsewhere.
  const elsewhere = hadFocus?.closest?.("#history, dialog, header") || (isTyping(hadFocus) && hadFocus.id !== "comment");
  if (!elsewhere) views.get(ask.id).focus({ preventScroll: true });
}

function setRaw(wanted) {
  raw = wanted;
  document.querySelector("[data-act=raw]").setAttribute("aria-pressed", String(raw));
  if (shown && (raw || views.get(shown.id)?.querySelector(".readable").hidden)) showRaw(views.get(shown.id), shown, raw);
}

// --- answers -------------------------------------------------------------------------------------------------

// By when the key was pressed: a busy page hears of it later, and the question may have changed meanwhile.
function tooSoon(event) {
  const least = event.type === "click" && event.detail > 1 ? TOO_FAST_CLICK : TOO_FAST;
  return event.timeStamp - shownAt < least;
}

function answer(label) {
  const comment = byId("comment").value.trim();
  const ms = Math.min(86_400_000, Math.round(performance.now() - shownAt));
  give("answer", { label, ms, ...(comment && { comment }) }, inWords(label));
}

function skip(reason) {
  give("skip", { reason }, SKIPS[reason]);
}

function give(kind, said, words) {
  const ask = deck.current;
  if (!ask) return;
  const id = newId();
  const entry = { id, kind, ask: ask.id, path: `/v1/asks/${ask.id}/${kind}`, body: { answer_id: id, token: ask.token, ...said } };
  outbox.add(entry); // kept on disk before the question leaves the table
  history.add({ id, askId: ask.id, ask, label: said.label ?? null, reason: said.reason, summary: summaryOf(ask), state: "waiting" });
  answered++;
  say(words, "undo: Z");
  deck.shift();
}

function takeBack(entry) {
  if (!entry || !canUndo(entry)) return say("There is nothing to undo.");
  if (outbox.cancel(entry.id)) {
    history.set(entry.id, "undone");
  } else {
    history.set(entry.id, "undoing");
    const path = `/v1/answers/${encodeURIComponent(entry.id)}/undo`;
    outbox.add({ id: `undo-${entry.id}`, kind: "undo", undoes: entry.id, ask: entry.askId, path, body: {} });
  }
  answered = Math.max(0, answered - 1);
  say(`Taken back: ${inWords(entry.label) || SKIPS[entry.reason]}`);
  if (entry.ask) deck.putBack(entry.ask);
  closeHistory();
}

// The service has answered for good.
function onResult(entry, response, problem) {
  if (entry.kind === "undo") return onUndone(entry, response, problem);
  if (!deck?.current) deck?.look(); // what the service said before it had this answer no longer holds
  if (!problem) return history.set(entry.id, response.outcome === "extra" ? "extra" : "saved");
  const words = SAID_BEFORE === problem.code ? "you gave another answer to this question elsewhere, which holds" : problem.message;
  const isTakenBack = outbox.cancel(`undo-${entry.id}`); // there is nothing to undo
  const refused = history.set(entry.id, "refused", words);
  if (refused?.ask && !isTakenBack) onRefused(refused, problem);
  toast(`An answer was refused: ${words}`);
}

// It counts for nothing. Where it was the answer that was wrong, the question comes back, behind the one on the table.
function onRefused(entry, problem) {
  answered = Math.max(0, answered - 1);
  if (history.entries[0] === entry) say(`Not saved: ${inWords(entry.label) || SKIPS[entry.reason]}`);
  if (problem.status !== WRONG) return;
  forgetRetired(entry.ask);
  deck.putNext(entry.ask);
}

function onUndone(entry, response, problem) {
  const done = history.set(entry.undoes, problem ? "saved" : "undone", problem ? problem.message : "");
  if (done?.label && ["withdrawn", "correction"].includes(response?.outcome)) history.takenBack(entry.ask);
  const here = deck.asks.find((ask) => ask.id === entry.ask);
  if (response?.ask) {
    if (here) Object.assign(here, { token: response.ask.token, deadline: response.ask.deadline });
    else if (!outbox.asks().includes(entry.ask) && !history.entries.some((other) => other.askId === entry.ask && canUndo(other))) deck.putBack(response.ask);
  } else if (here && response?.outcome !== "already_undone") {
    deck.drop([entry.ask]);
    toast(problem ? `The answer stands: ${problem.message}` : "The answer is taken back; somebody else has the question now.");
  }
  return done;
}

// Another tab has answered: its question leaves this table too.
function onOutbox(entry) {
  if (entry && entry.kind !== "undo" && deck) deck.drop([entry.ask]);
  if (deck && !deck.current) drawEmpty();
  drawBadge();
}

// --- words to the person -------------------------------------------------------------------------------------

function say(words, hint = "") {
  byId("last").replaceChildren(h("b", { dir: "auto" }, words), hint && h("span", { class: "muted keys-only" }, ` · ${hint}`));
}

function toast(words) {
  clearTimeout(toastTimer);
  const hide = () => (byId("toast").hidden = true);
  byId("toast").hidden = false;
  byId("toast").replaceChildren(h("span", { dir: "auto" }, words), h("button", { type: "button", class: "quiet icon", "aria-label": "Close this message", onclick: hide }, "✕"));
  toastTimer = setTimeout(hide, 9000);
}

function drawBadge() {
  if (!outbox || !deck) return;
  const waiting = outbox.entries().length;
  const trouble = outbox.trouble ?? (["offline", "login"].includes(deck.trouble) ? deck.trouble : null);
  const offline = !navigator.onLine || trouble === "offline";
  const state = trouble === "login" ? "login" : offline ? "offline" : waiting ? "waiting" : "saved";
  const kept = waiting ? ` · ${count(waiting)} kept` : "";
  const words = { login: `log in again${kept}`, offline: `offline${kept}`, waiting: `${count(waiting)} waiting`, saved: "saved" };
  const badge = byId("badge");
  const link = badge.firstElementChild;
  if (badge.dataset.state !== state || link.textContent !== words[state]) {
    badge.dataset.state = state;
    link.textContent = words[state];
    link.setAttribute("href", state === "login" ? logIn("/label") : "#history");
  }
  byId("tally").textContent = answered ? some(answered, "answer") : "";
}

// --- keys and buttons ----------------------------------------------------------------------------------------

function onKey(event) {
  if (document.querySelector("dialog[open]")) return;
  if (event.target === byId("find")) return choices.onFindKey(event);
  if (event.target === byId("comment")) return onCommentKey(event);
  if (isTyping(event.target) || shelf.take("askance:keys-off")) return;
  const meant = meaning(event, classes.length);
  if (!meant) {
    if (event.repeat && event.key === " " && !event.target.closest("button, a, summary, audio")) event.preventDefault(); // a held Space would scroll
    return;
  }
  const onControl = event.target.closest?.("button, a, summary, input, audio");
  const sends = meant.action === "accept" && onControl?.matches("[role=checkbox]"); // which Space ticks
  if (onControl && !sends && (meant.action === "accept" || meant.action === "unsure")) return; // the control's own
  if (meant.place !== undefined && areSets) choices.toggle(classes[meant.place]);
  else if (meant.place !== undefined) tooSoon(event) || (shown && answer(classes[meant.place]));
  else if (!act(meant.action, event)) return;
  event.preventDefault();
}

function act(action, event) {
  if (SKIPS[action]) tooSoon(event) || skip(action);
  else if (action === "accept") accept(event);
  else if (action === "undo") takeBack(history.newest());
  else if (action === "raw") setRaw(!raw);
  else if (action === "help") byId("help").showModal();
  else if (action === "instructions") return openInstructions();
  else if (action === "comment") openComment();
  else if (action === "older" || action === "newer") openHistory(action === "older" ? 1 : -1);
  else if (action === "find") return choices.openFind();
  else if (action === "escape") closeHistory();
  else return false;
  return true;
}

function accept(event) {
  if (!shown || tooSoon(event)) return;
  if (areSets) answer(choices.ticked);
  else if (shown.suggestion) answer(shown.suggestion.label);
  else say("No suggestion here: choose a class.");
}

function openComment() {
  if (!shown) return;
  byId("comment-row").hidden = false;
  byId("comment").focus();
}

function onCommentKey(event) {
  if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
  if (event.key === "Escape") byId("comment").value = "";
  byId("comment-row").hidden = !byId("comment").value.trim();
  backToItem();
  event.preventDefault();
}

// Who has not seen them yet, or not as they are now, sees them before the first question.
function openInstructionsAtFirst(scope) {
  const seen = `askance:instructions:${scope}`;
  const digest = byId("instructions")?.dataset.digest;
  if (!digest || shelf.take(seen) === digest) return;
  byId("instructions").addEventListener("close", () => shelf.put(seen, digest), { once: true });
  openInstructions();
}

function openInstructions() {
  if (!byId("instructions")) return false;
  byId("help").close();
  byId("instructions").showModal();
  return true;
}

function backFromInstructions() {
  shownAt = performance.now(); // the time to read them is not that of the question
  backToItem();
}

function backToItem() {
  (byId("stage").querySelector(".item") ?? byId("main")).focus({ preventScroll: true });
}

function setHistoryOpen(isOpen) {
  document.body.classList.toggle("history-open", isOpen);
  byId("open-history").setAttribute("aria-expanded", String(isOpen));
  // Where it lies on top of the question, the focus must not go to what it hides.
  for (const part of [byId("main"), byId("answer")]) part.inert = isOpen && !hasRoomForHistory.matches;
}

function openHistory(step) {
  setHistoryOpen(true);
  if (step && !history.move(step)) step < 0 ? closeHistory() : byId("history").focus();
}

function closeHistory() {
  setHistoryOpen(false);
  backToItem();
}

function wireButtons() {
  tellKeys();
  for (const button of document.querySelectorAll("[data-act]")) {
    button.addEventListener("click", (event) => {
      if (event.detail > 0 && button.dataset.act !== "comment") backToItem();
      act(button.dataset.act, event);
    });
  }
  writeAll(document.querySelectorAll("#instructions .written"));
  for (const id of ["open-instructions", "help-instructions"]) byId(id)?.addEventListener("click", openInstructions);
  byId("instructions")?.addEventListener("close", backFromInstructions);
  byId("open-help").addEventListener("click", () => byId("help").showModal());
  byId("open-history").addEventListener("click", () => (document.body.classList.contains("history-open") ? closeHistory() : openHistory(1)));
  byId("close-history").addEventListener("click", closeHistory);
  hasRoomForHistory.addEventListener("change", () => setHistoryOpen(document.body.classList.contains("history-open")));
  byId("help").addEventListener("close", () => byId("instructions")?.open || backToItem());
  const byTopic = byId("by-topic");
  byTopic.checked = Boolean(shelf.take(BY_TOPIC));
  byTopic.addEventListener("change", () => (byTopic.checked ? shelf.put(BY_TOPIC, true) : shelf.remove(BY_TOPIC)));
  const keysOn = byId("keys-on");
  keysOn.checked = !shelf.take("askance:keys-off");
  keysOn.addEventListener("change", () => (keysOn.checked ? shelf.remove("askance:keys-off") : shelf.put("askance:keys-off", true)));
  byId("badge").addEventListener("click", (event) => {
    if (byId("badge").dataset.state === "login") return;
    event.preventDefault();
    outbox.flush();
    openHistory(1);
  });
}
