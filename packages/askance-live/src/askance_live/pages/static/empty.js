// No question on the table: why, and what happens next.

import { logIn } from "./api.js";
import { clock, h, some } from "./dom.js";

const TITLES = {
  nothing_asked: "All caught up",
  all_leased: "Others are on it",
  all_skipped: "You have seen them all",
  waiting_for_events: "No events yet",
  budget_spent: "The budget of questions is spent",
  budget_paced: "No question for the moment",
};
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const NEXT = {
  nothing_asked: "New questions appear here by themselves.",
  all_leased: "What they leave open comes to you.",
  all_skipped: "New questions appear here by themselves.",
  waiting_for_events: "Events are sent to POST /v1/events. Questions appear here by themselves.",
  budget_spent: "Questions go on when the budget allows; this page looks by itself.",
  budget_paced: "New questions appear here by themselves.",
};

export function emptyView(deck, outbox) {
  const waiting = outbox.entries().length;
  const kept = waiting > 0 && h("p", {}, `${some(waiting, "answer")} kept in this browser until the service has ${waiting === 1 ? "it" : "them"}.`);
  if (deck.trouble === "login") {
    return view("Your session has ended", ["Nothing is lost.", kept, h("a", { class: "alone", href: logIn("/label") }, "Log in again")]);
  }
  if (deck.trouble) {
    const words = deck.trouble === "offline" ? "The service cannot be reached." : deck.trouble;
    return view("No connection", [words, kept, h("p", { class: "muted" }, "It is tried again by itself every few seconds.")]);
  }
  const own = waiting > 0 && deck.empty?.reason === "all_leased"; // its questions count as taken until the answers are there
  if (own) return view("Saving your answers", [kept]);
  if (!deck.empty) return h("p", { class: "muted loading" }, "Fetching questions …");
  const { reason, detail } = deck.empty;
  return view(TITLES[reason] ?? "Nothing to label now", [detail.replace(TIME, localTime), kept, h("p", { class: "muted" }, NEXT[reason] ?? NEXT.nothing_asked)]);
}

// The service speaks of times in UTC.
function localTime(time) {
  const day = new Date(time);
  const isToday = day.toDateString() === new Date().toDateString();
  return isToday ? clock(time) : `${clock(time)} on ${day.toLocaleDateString("en", { weekday: "long" })}`;
}

function view(title, parts) {
  return h(
    "div",
    { class: "empty", role: "status" },
    h("h2", {}, title),
    parts.filter(Boolean).map((part) => (typeof part === "string" ? h("p", { dir: "auto" }, part) : part)),
  );
}
