// A label in words: a class; or, of a set, the labels that an event has. Where only some are known it is an object.

import { nameOf } from "./names.js";

export function inWords(label) {
  if (label === null || label === undefined) return "";
  if (typeof label === "string") return nameOf(label);
  if (Array.isArray(label)) return label.map(nameOf).join(", ") || "none";
  const has = Object.keys(label).filter((name) => label[name]);
  return has.map(nameOf).join(", ") || `not ${Object.keys(label).map(nameOf).join(", ")}`;
}

// Whether what people said differs from what was predicted, or from what somebody else said, where both know.
export function differ(one, other) {
  if (typeof one === "string" || typeof other === "string") return one !== other;
  const names = new Set([one, other].flatMap((label) => (Array.isArray(label) ? label : Object.keys(label))));
  return [...names].some((name) => said(one, name) !== null && said(other, name) !== null && said(one, name) !== said(other, name));
}

function said(label, name) {
  return Array.isArray(label) ? label.includes(name) : (label[name] ?? null);
}
