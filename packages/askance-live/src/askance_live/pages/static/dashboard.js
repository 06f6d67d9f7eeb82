// The dashboard: numbers as they change, each card a question.

import { get, logIn, post, root } from "./api.js";
import { CARDS } from "./cards.js";
import { table } from "./charts.js";
import { byId, clock, count, duration, h, number, percent } from "./dom.js";
import { useNames } from "./names.js";
import { replaceContent } from "./scrolling.js";

const SERIES_EVERY = 15_000;
let stats = null;
let series = null;
let scheduled = false;

const cards = CARDS.map((card) => {
  const parts = { answer: h("p", { class: "answer-line", dir: "auto" }), plot: h("div", { class: "plot" }), data: h("div") };
  const details = card.table && h("details", {}, h("summary", {}, "As a table"), parts.data);
  details && details.addEventListener("toggle", schedule);
  const section = h("section", { class: card.wide ? "card wide" : "card", "aria-label": card.question }, h("h2", {}, card.question), parts.answer, parts.plot, details);
  if (!card.isShown) byId("cards").append(section); // else once it is known whether it has something to say
  return { card, details, section, ...parts };
});

function budgetTile({ rate, total }, spent, limit) {
  if (limit !== null) return [percent(limit ? spent / limit : 1), `${count(spent)} of ${count(limit)} asked`];
  return [rate < 1 ? percent(rate) : "no limit", `${rate < 1 ? "of the events; " : ""}${count(total.spent)} asked`];
}

function tiles() {
  const { accuracy: { headline: head }, events, queue, labels, drift, model, budget } = stats;
  const periods = Object.values(budget.spans).map((name) => budget[name]).filter((part) => part !== budget.total);
  const { spent, limit } = periods.findLast((part) => part.limit !== null) ?? budget.total; // the longest with a limit
  return [
    ["Right", head.enough ? percent(head.estimate) : "too early", head.enough ? `${percent(head.low)} to ${percent(head.high)}` : `${count(head.n)} of ${count(head.needed)} answers`],
    ["Events a second", number(events.per_second), `${count(events.total)} in all`],
    ["Open questions", count(queue.open), queue.oldest_seconds === null ? "none waits" : `oldest ${duration(queue.oldest_seconds)}`],
    ["Labels", count(labels.total), `model version ${count(model.version)}`],
    ["Change", { none: "none seen", unknown: "too early", drift: "yes" }[drift.level], "of the stream", drift.level === "drift" ? "warn" : ""],
    ["Budget", ...budgetTile(budget, spent, limit), budget.exhausted ? "warn" : ""],
  ];
}

function draw() {
  scheduled = false;
  if (!stats) return;
  byId("tiles").replaceChildren(...tiles().map(([name, value, more, tone]) => h("div", { class: "tile", data: { tone: tone ?? "" } }, h("span", { class: "muted small" }, name), h("b", {}, value), h("span", { class: "muted small" }, more))));
  for (const [place, { card, details, section, answer, plot, data }] of cards.entries()) {
    if (card.isShown && !card.isShown(stats)) continue;
    if (!section.isConnected) cards[place - 1].section.after(section);
    const words = card.answer(stats, series);
    if (answer.textContent !== words) answer.textContent = words;
    const drawn = card.draw(stats, series, Math.max(200, plot.clientWidth), words);
    replaceContent(plot, ...[drawn].flat().filter(Boolean));
    if (details?.open) replaceContent(data, table(card.question, ...card.table(stats, series)));
  }
  const reasons = [...(stats.paused ? ["Learning is paused; answers are kept and wait."] : []), ...stats.health.reasons];
  byId("alert").hidden = reasons.length === 0;
  if (byId("alert").textContent !== reasons.join(" ")) byId("alert").textContent = reasons.join(" ");
  drawQuarantine();
  drawPause();
  byId("foot").textContent = `askance ${stats.version} · ${stats.algorithm} · up ${duration(stats.uptime)} · numbers of ${clock(stats.time)}`;
}

function drawQuarantine() {
  const { held, dropped, newest, widened } = stats.quarantine;
  const words = widened.map(({ field, before, now }) => `The field ${field} was a ${before} at first and is a ${now} now.`);
  if (held) words.unshift(`In quarantine, for they could not be encoded: ${count(held)} ${held === 1 ? "event" : "events"}; the newest: ${newest.map(({ id, reason }) => `${id}, ${reason}`).join(" ")}`);
  if (dropped) words.push(`Not kept, for lack of room: ${count(dropped)}.`);
  byId("quarantine").hidden = words.length === 0;
  if (byId("quarantine").textContent !== words.join(" ")) byId("quarantine").textContent = words.join(" ");
}

function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(draw);
}

function badge(state, words) {
  if (byId("live").textContent === words) return;
  byId("live").dataset.state = state;
  byId("live").textContent = words;
}

async function loadSeries() {
  const minutes = Number(byId("range").value);
  try {
    series = await get(`/v1/stats/series?minutes=${minutes}&points=${Math.min(minutes, 180)}`);
    schedule();
  } catch (error) {
    if (error.status === 401) location.assign(logIn("/"));
  }
}

function watch() {
  const source = new EventSource(`${root}/v1/live`);
  source.addEventListener("stats", (event) => {
    stats = JSON.parse(event.data);
    useNames(stats.names);
    badge("saved", "live");
    schedule();
  });
  source.addEventListener("bye", () => badge("offline", "the service stops"));
  source.addEventListener("error", () => {
    badge("offline", "reconnecting");
    if (source.readyState !== EventSource.CLOSED) return;
    // The service refused, perhaps because the session has ended.
    get("/v1/me").catch((error) => error.status === 401 && location.assign(logIn("/")));
    setTimeout(watch, 5000);
  });
  addEventListener("pagehide", () => source.close());
}

function drawPause() {
  const button = byId("pause");
  if (!button) return;
  button.hidden = false;
  button.dataset.act = stats.paused ? "resume" : "pause";
  button.textContent = stats.paused ? "Resume learning" : "Pause learning";
}

byId("pause")?.addEventListener("click", async ({ currentTarget }) => {
  try {
    await post(`/v1/model/${currentTarget.dataset.act}`); // what it said, whatever the newest numbers are
    stats = await get("/v1/stats", { cache: "no-store" }); // not those of a moment ago
    useNames(stats.names);
  } catch (error) {
    byId("alert").hidden = false;
    byId("alert").textContent = error.message;
    return;
  }
  schedule();
});
byId("range").addEventListener("change", loadSeries);
addEventListener("resize", schedule);
addEventListener("pageshow", (event) => event.persisted && watch());
setInterval(() => document.hidden || loadSeries(), SERIES_EVERY);
get("/v1/stats").then((found) => { stats ??= found; schedule(); }).catch(() => {});
loadSeries();
watch();
