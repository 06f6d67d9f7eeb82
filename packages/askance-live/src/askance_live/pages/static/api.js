// Requests to the service. A Problem is what the service says; Unreachable is no answer at all.

import { parse } from "./exact.js";

const OTHERS = ["other_store", "other_user"];

export class Problem extends Error {
  constructor(status, document, retryAfter) {
    super(document.detail || `the service answered ${status}`);
    this.status = status;
    this.code = document.code || "";
    this.retryAfter = retryAfter;
  }

  // The same request may work later.
  get passes() {
    return this.status === 429 || this.status >= 500 || OTHERS.includes(this.code);
  }
}

export class Unreachable extends Error {}

// Where the stream lives: "" or, among several, "/name".
export const root = document.documentElement.dataset.root ?? "";
export const logIn = (page) => `${root}/login?next=${encodeURIComponent(root + page)}`;

// Which store the page speaks to: its numbers mean nothing to another that has taken the address since. And for whom: in
// another tab somebody else may log in, whose answers these are not.
let meant = {};
export const speakTo = (store, user) => (meant = { "askance-store": store, "askance-user": encodeURIComponent(user) });

// Which classes hold: every answer of the service says so, and a page that shows them hears of others.
let scheme = null;
let onScheme = () => {};
export function watchClasses(known, onchange) {
  scheme = String(known);
  onScheme = onchange;
}

function noteClasses(now) {
  if (scheme === null || now === null || now === scheme) return;
  scheme = now;
  onScheme();
}

export async function request(method, path, body, options = {}) {
  let response;
  try {
    response = await fetch(root + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...meant },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(options.timeout || 15000),
      keepalive: Boolean(options.keepalive),
      redirect: "error",
      cache: options.cache ?? "default",
    });
  } catch (error) {
    throw new Unreachable(String(error));
  }
  noteClasses(response.headers.get("askance-classes"));
  const retryAfter = Number(response.headers.get("retry-after")) || null;
  if (response.status === 204) return { nothing: true, headers: response.headers, retryAfter };
  let document;
  try {
    document = parse(await response.text());
  } catch {
    // A proxy's page, or a connection cut in the middle of the answer.
    if (response.ok) throw new Unreachable("the answer was cut");
    document = {};
  }
  if (OTHERS.includes(document.code)) location.reload(); // what waits for the first store or person is kept until they are back
  if (!response.ok) throw new Problem(response.status, document, retryAfter);
  return document;
}

export const get = (path, options = {}) => request("GET", path, undefined, options);
export const post = (path, body = {}, options = {}) => request("POST", path, body, options);

// A name nobody else makes; crypto.randomUUID is missing on plain http.
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
