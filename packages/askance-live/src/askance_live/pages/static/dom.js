// Elements and numbers. Text from events only ever becomes text nodes: nothing here parses HTML.

export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

// Children first: once dir is auto, the browser looks through all the text again for each that comes.
function fill(element, properties, children) {
  appendAll(element, children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "onclick") element.addEventListener("click", value);
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

// One by one: a call does not take as many as a long text has.
export function appendAll(element, children) {
  for (const child of children) element.append(child);
}

export function byId(name) {
  return document.getElementById(name);
}

export function percent(value, digits = 0) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)}\u00a0%`;
}

export function count(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
}

export function number(value) {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 100 ? count(value) : String(Number(value.toPrecision(2)));
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${Math.round(1000 * seconds)}\u00a0ms`;
  if (seconds < 90) return `${number(seconds)}\u00a0s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)}\u00a0min`;
  if (seconds < 172800) return `${number(seconds / 3600)}\u00a0h`;
  return `${Math.round(seconds / 86400)}\u00a0days`;
}

export function clock(time) {
  return new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// "1 label", "2 labels"
export function some(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}
