// Several tabs of one person: each says which questions it holds, so that no two show the same.

import { newId } from "./api.js";
import * as shelf from "./shelf.js";

const BEAT = 20_000;
const GONE_AFTER = 150_000; // timers of hidden tabs run once a minute

export class Tabs {
  id = newId();
  #prefix;
  #held = [];

  constructor(scope, onclash) {
    this.#prefix = `askance:tab:${scope}:`;
    this.#followReload();
    this.#write();
    setInterval(() => this.#write(), BEAT);
    addEventListener("pagehide", () => shelf.remove(this.#prefix + this.id));
    addEventListener("pageshow", () => this.#write());
    addEventListener("storage", (event) => {
      if (!event.key?.startsWith(this.#prefix) || !event.newValue) return;
      const other = event.key.slice(this.#prefix.length);
      const ids = shelf.take(event.key)?.ids ?? [];
      // Where the browser gives no lock (plain http), both may have got the same question: the smaller name keeps it.
      if (other < this.id) onclash(ids.filter((ask) => this.#held.includes(ask)));
    });
  }

  hold(ids) {
    if (ids.join() === this.#held.join()) return;
    this.#held = [...ids];
    this.#write();
  }

  #write() {
    shelf.put(this.#prefix + this.id, { ids: this.#held, at: Date.now() });
  }

  // After a reload the page before may not have said goodbye yet; what it held is ours.
  #followReload() {
    try {
      const before = sessionStorage.getItem("askance:tab");
      const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
      if (before && isReload) shelf.remove(this.#prefix + before);
      sessionStorage.setItem("askance:tab", this.id);
    } catch {
      // no storage: then no other tab is known either
    }
  }

  // The questions other tabs hold.
  others() {
    const found = [];
    for (const key of shelf.keys(this.#prefix)) {
      if (key === this.#prefix + this.id) continue;
      const said = shelf.take(key);
      if (said && Date.now() - said.at < GONE_AFTER) found.push(...said.ids);
      else shelf.remove(key);
    }
    return found;
  }

  // Whether a tab is open, as far as is known.
  isThere(tab) {
    return tab === this.id || shelf.take(this.#prefix + tab) !== null;
  }

  // One tab at a time fetches questions and says which it got.
  alone(work) {
    return navigator.locks ? navigator.locks.request(`${this.#prefix}next`, work) : work();
  }
}
