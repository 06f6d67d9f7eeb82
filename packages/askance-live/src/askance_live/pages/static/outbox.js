// Answers on their way to the service. Each is a key of its own in localStorage, so that tabs do not overwrite each
// other, and stays there until the service has said 2xx or a final no. Sending one twice does no harm: the answer_id
// is made here, once, and the service answers the same id with the same response for ever.

import { post, Problem } from "./api.js";
import * as shelf from "./shelf.js";

const ADOPT_AFTER = 10_000; // what another tab has not got rid of by then, or left behind, is sent by this one
const LONGEST_PAUSE = 15_000;

export class Outbox {
  #prefix;
  #tabs;
  #onchange;
  #onresult;
  #running = false;
  #failures = 0;
  #timer = 0;
  #pausedUntil = new Map();
  #last = 0;
  trouble = null; // null, "offline", "busy" or "login"

  constructor(scope, tabs, onchange, onresult) {
    this.#prefix = `askance:out:${scope}:`;
    this.#tabs = tabs;
    this.#onchange = onchange;
    this.#onresult = onresult;
    addEventListener("online", () => this.flush());
    addEventListener("offline", () => this.#onchange());
    addEventListener("storage", (event) => event.key?.startsWith(this.#prefix) && this.#onchange(readable(event)));
    setInterval(() => this.flush(), ADOPT_AFTER / 4);
  }

  // All that waits, in the order it was made.
  entries() {
    const found = shelf.keys(this.#prefix).map((key) => shelf.take(key));
    return found.filter((entry) => entry && entry.id && entry.path).sort((a, b) => a.order - b.order);
  }

  // The asks that are answered here but, for all we know, not yet there.
  asks() {
    return this.entries().filter((entry) => entry.kind !== "undo").map((entry) => entry.ask);
  }

  add(entry) {
    const newest = this.entries().at(-1)?.order ?? 0;
    this.#last = Math.max(Date.now(), this.#last + 1, newest + 1);
    shelf.put(this.#prefix + entry.id, { ...entry, order: this.#last, tab: this.#tabs.id, tried: false });
    this.#onchange();
    queueMicrotask(() => this.flush());
  }

  // Take back what was never sent; false: it may have arrived, so an undo must follow it.
  cancel(id) {
    const entry = shelf.take(this.#prefix + id);
    if (!entry || entry.tried) return false;
    shelf.remove(this.#prefix + id);
    this.#onchange();
    return true;
  }

  #next() {
    const waiting = this.entries();
    const ids = new Set(waiting.map((entry) => entry.id));
    const now = Date.now();
    return waiting.find((entry) => {
      const own = entry.tab === this.#tabs.id || !this.#tabs.isThere(entry.tab) || now - entry.order > ADOPT_AFTER;
      const after = entry.kind === "undo" && ids.has(entry.undoes); // an undo follows its answer
      return own && !after && (this.#pausedUntil.get(entry.id) ?? 0) <= now;
    });
  }

  async flush() {
    if (this.#running) return;
    this.#running = true;
    clearTimeout(this.#timer);
    try {
      for (let entry = this.#next(); entry; entry = this.#next()) {
        shelf.put(this.#prefix + entry.id, { ...entry, tried: true });
        let response = null;
        let problem = null;
        try {
          response = await post(entry.path, entry.body, { keepalive: true });
        } catch (error) {
          problem = error;
        }
        if (problem && this.#mayPass(problem, entry)) return;
        if (problem?.status === 500) continue; // this one alone waits
        this.#failures = 0;
        this.trouble = null;
        shelf.remove(this.#prefix + entry.id);
        this.#onresult(entry, response, problem);
        this.#onchange();
      }
    } finally {
      this.#running = false;
      this.#onchange();
    }
  }

  // Whether sending must pause; the entry stays.
  #mayPass(problem, entry) {
    const isProblem = problem instanceof Problem;
    if (isProblem && problem.status !== 401 && !problem.passes) return false;
    this.#failures++;
    const pause = Math.min(LONGEST_PAUSE, 250 * 2 ** Math.min(this.#failures, 6));
    if (isProblem && problem.status === 500) {
      this.#pausedUntil.set(entry.id, Date.now() + pause);
      this.trouble = "busy";
      this.#timer = setTimeout(() => this.flush(), pause);
      return false;
    }
    this.trouble = !isProblem ? "offline" : problem.status === 401 ? "login" : "busy";
    const asked = isProblem && problem.retryAfter ? 1000 * problem.retryAfter : 0;
    this.#timer = setTimeout(() => this.flush(), Math.min(Math.max(pause, asked), 60_000));
    return true;
  }
}

// What another tab put into its outbox, or null where it took something out.
function readable(event) {
  try {
    return JSON.parse(event.newValue);
  } catch {
    return null;
  }
}
