// The question on the table and the few behind it, fetched ahead so that the next one is there at once.

import { post, Problem, root } from "./api.js";
import * as shelf from "./shelf.js";

export const BY_TOPIC = "askance:by-topic"; // where the wish for similar questions together is kept

const AHEAD = 3;
const HIDDEN_TOO_LONG = 600_000;

export class Deck {
  asks = [];
  empty = null; // {reason, detail, again} when the service has nothing
  trouble = null; // null, "offline", "login" or a sentence
  #tabs;
  #outbox;
  #onchange;
  #filling = false;
  #again = false;
  #failures = 0;
  #timer = 0;
  #seen = Date.now();

  constructor(tabs, outbox, leaseSeconds, onchange) {
    this.#tabs = tabs;
    this.#outbox = outbox;
    this.#onchange = onchange;
    setInterval(() => this.#renew(), Math.max(1000, Math.min(150, leaseSeconds / 4) * 1000));
    addEventListener("online", () => this.fill());
    document.addEventListener("visibilitychange", () => {
      this.#seen = Date.now();
      if (!document.hidden) this.#renew().then(() => this.fill());
    });
    addEventListener("pagehide", () => this.#giveBack());
  }

  get current() {
    return this.asks[0] ?? null;
  }

  // Remove the question on the table.
  shift() {
    const ask = this.asks.shift();
    this.#changed();
    return ask;
  }

  putBack(ask) {
    this.asks = [ask, ...this.asks.filter((other) => other.id !== ask.id)];
    this.empty = null;
    this.#changed();
  }

  // One more question, behind the one on the table, which somebody may be reading.
  putNext(ask) {
    const others = this.asks.filter((other) => other.id !== ask.id);
    this.asks = [...others.slice(0, 1), ask, ...others.slice(1)];
    this.empty = null;
    this.#changed();
  }

  drop(ids) {
    const before = this.asks.length;
    this.asks = this.asks.filter((ask) => !ids.includes(ask.id));
    if (this.asks.length !== before) this.#changed();
  }

  #changed() {
    this.#tabs.hold(this.asks.map((ask) => ask.id));
    this.#onchange();
    this.fill();
  }

  // Ask the service at once: what it said last, or is about to say, no longer holds.
  look() {
    this.#again = this.#filling;
    this.empty = null;
    this.fill();
  }

  async fill() {
    if (this.#filling || this.asks.length > AHEAD) return;
    if (this.empty && Date.now() < this.empty.again - 50) return;
    this.#filling = true;
    clearTimeout(this.#timer);
    let pause = 0;
    try {
      await this.#tabs.alone(async () => {
        const held = [...this.asks.map((ask) => ask.id), ...this.#outbox.asks(), ...this.#tabs.others()];
        const wanted = AHEAD + 1 - this.asks.length;
        const exclude = held.length ? `&exclude=${[...new Set(held)].slice(-150).join(",")}` : "";
        const found = await post(`/v1/asks/next?n=${wanted}${exclude}${shelf.take(BY_TOPIC) ? "&topic=1" : ""}`);
        this.trouble = null;
        this.#failures = 0;
        if (found.nothing) {
          const seconds = Math.min(found.retryAfter ?? 5, 15);
          pause = 1000 * seconds;
          this.empty = {
            reason: found.headers.get("x-askance-reason") ?? "",
            detail: found.headers.get("x-askance-detail") ?? "",
            again: Date.now() + pause,
          };
        } else {
          this.empty = null;
          // Undone or answered meanwhile, or of another tab that was only heard of now: nothing is shown twice.
          const known = new Set([...this.asks.map((ask) => ask.id), ...this.#outbox.asks(), ...this.#tabs.others()]);
          this.asks.push(...found.asks.filter((ask) => !known.has(ask.id)));
          this.#tabs.hold(this.asks.map((ask) => ask.id));
          // Fewer than wanted: the service has no more now.
          if (this.asks.length <= AHEAD) pause = 2000;
        }
      });
    } catch (error) {
      this.trouble = !(error instanceof Problem) ? "offline" : error.status === 401 ? "login" : error.message;
      this.#failures++;
      pause = Math.max(1000 * (error.retryAfter ?? 0), Math.min(15_000, 500 * 2 ** Math.min(6, this.#failures)));
    } finally {
      this.#filling = false;
    }
    if (this.#again) this.empty = null;
    this.#onchange();
    if (this.#again) return this.look();
    if (this.asks.length <= AHEAD) this.#timer = setTimeout(() => this.fill(), pause);
  }

  async #renew() {
    if (document.hidden && Date.now() - this.#seen > HIDDEN_TOO_LONG) return;
    for (const ask of [...this.asks]) {
      try {
        const lease = await post(`/v1/asks/${ask.id}/renew`, { token: ask.token });
        Object.assign(ask, { deadline: lease.deadline });
      } catch (error) {
        if (error instanceof Problem && error.code === "stale_token" && this.asks.includes(ask)) this.drop([ask.id]);
        else if (!(error instanceof Problem)) return;
      }
    }
  }

  // The page goes: what nobody has looked at yet is for others; the question on the table is here after a reload.
  #giveBack() {
    for (const ask of this.asks.slice(1)) {
      navigator.sendBeacon(`${root}/v1/asks/${ask.id}/release`, JSON.stringify({ token: ask.token }));
    }
    this.asks = this.asks.slice(0, 1);
  }
}
