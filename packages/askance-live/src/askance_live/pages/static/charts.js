// Charts as inline SVG, drawn at the width they have, so that text keeps its size.

import { clock, count, h, number, percent, svg } from "./dom.js";
import { scrollBox } from "./scrolling.js";

const LEFT = 40;
const BOTTOM = 20;
const TOP = 8;

// A picture with a sentence in its place for those who cannot see it.
function picture(width, height, words, ...children) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": words }, ...children);
}

function frame(width, height, xs, ys) {
  const [x0, x1] = xs;
  const [y0, y1] = ys;
  return {
    x: (value) => LEFT + ((value - x0) / (x1 - x0 || 1)) * (width - LEFT - 10),
    y: (value) => height - BOTTOM - ((value - y0) / (y1 - y0 || 1)) * (height - BOTTOM - TOP),
  };
}

function path(points) {
  return points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

function leftAxis(at, width, ticks, format) {
  return ticks.map((tick) => [
    svg("line", { class: "axis", x1: LEFT, x2: width - 10, y1: at.y(tick), y2: at.y(tick) }),
    svg("text", { x: LEFT - 6, y: at.y(tick) + 4, "text-anchor": "end" }, format(tick)),
  ]);
}

function bottomAxis(at, height, ticks, format, width) {
  return ticks.map((tick) => {
    const anchor = at.x(tick) < LEFT + 12 ? "start" : at.x(tick) > width - 32 ? "end" : "middle";
    return svg("text", { x: at.x(tick), y: height - 4, "text-anchor": anchor }, format(tick));
  });
}

// Round numbers from 0 to at least `most`; from 0 to 1 where there is nothing but zeros.
export function ticksTo(most, n = 3, isWhole = false) {
  const raw = (most || 1) / n;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const round = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= raw);
  const step = isWhole ? Math.max(1, round) : round;
  return Array.from({ length: Math.ceil((most || 1) / step - 1e-9) + 1 }, (_, place) => place * step);
}

// An estimate with its interval on a line from 0 to 1, and what guessing would reach.
export function intervalChart(width, { estimate, low, high }, baseline, words) {
  const height = 76;
  const x = (value) => 6 + value * (width - 12);
  const y = 34;
  return picture(
    width, height, words,
    svg("rect", { class: "track", x: 6, y: y - 7, width: width - 12, height: 14, rx: 7 }),
    svg("rect", { class: "k0", opacity: 0.35, stroke: "none", x: x(low), y: y - 7, width: Math.max(3, x(high) - x(low)), height: 14, rx: 5 }),
    svg("rect", { class: "k0", x: x(estimate) - 2, y: y - 11, width: 4, height: 22, rx: 2 }),
    svg("text", { class: "strong", x: x(estimate), y: 16, "text-anchor": edge(estimate) }, percent(estimate)),
    baseline !== null && [
      svg("line", { class: "baseline", x1: x(baseline), x2: x(baseline), y1: y - 12, y2: y + 16 }),
      svg("text", { x: x(baseline), y: y + 28, "text-anchor": edge(baseline) }, `guessing ${percent(baseline)}`),
    ],
    (baseline === null || baseline > 0.3) && svg("text", { x: 6, y: y + 28 }, "0 %"),
    (baseline === null || baseline < 0.7) && svg("text", { x: width - 6, y: y + 28, "text-anchor": "end" }, "100 %"),
  );
}

function edge(share) {
  return share > 0.85 ? "end" : share < 0.12 ? "start" : "middle";
}

// Accuracy over labels, with its band.
export function bandChart(width, points, baseline, words) {
  const height = 190;
  const least = Math.min(...points.map((point) => point.low), baseline ?? 1);
  const floor = Math.max(0, Math.floor(10 * least) / 10);
  const at = frame(width, height, [points[0].labels, points.at(-1).labels], [floor, 1]);
  const ticks = [floor, (floor + 1) / 2, 1];
  const edgeOf = (name) => points.map((point) => [at.x(point.labels), at.y(point[name])]);
  const middle = Math.round((points[0].labels + points.at(-1).labels) / 2);
  return picture(
    width, height, words,
    leftAxis(at, width, ticks, (tick) => `${Math.round(100 * tick)} %`),
    svg("path", { class: "band", d: `${path(edgeOf("high"))}${path(edgeOf("low").reverse()).replace("M", "L")}Z` }),
    svg("path", { class: "line k0", d: path(edgeOf("estimate")) }),
    points.length === 1 && svg("circle", { class: "k0", cx: at.x(points[0].labels), cy: at.y(points[0].estimate), r: 3 }),
    baseline !== null && svg("line", { class: "baseline", x1: LEFT, x2: width - 10, y1: at.y(baseline), y2: at.y(baseline) }),
    bottomAxis(at, height, points.length > 1 ? [points[0].labels, middle, points.at(-1).labels] : [points[0].labels], count, width),
  );
}

// Shares of the classes over time, stacked to 100 %.
export function sharesChart(width, rows, names, words) {
  const height = 150;
  const at = frame(width, height, [rows[0].time, rows.at(-1).time], [0, 1]);
  const low = rows.map(() => 0);
  const areas = names.map((name, place) => {
    const bottom = rows.map((row, n) => [at.x(row.time), at.y(low[n])]);
    rows.forEach((row, n) => (low[n] += row.shares[name]));
    const top = rows.map((row, n) => [at.x(row.time), at.y(low[n])]);
    return svg("path", { class: `area k${Math.min(place, 6)}`, d: `${path(top)}${path(bottom.reverse()).replace("M", "L")}Z` });
  });
  return picture(width, height, words, areas, leftAxis(at, width, [0, 0.5, 1], (tick) => percent(tick)), timeAxis(at, height, rows, width));
}

function timeAxis(at, height, rows, width) {
  const times = [rows[0].time, (rows[0].time + rows.at(-1).time) / 2, rows.at(-1).time];
  const long = times[2] - times[0] > 2 * 86_400_000;
  const format = (time) => (long ? new Date(time).toLocaleDateString([], { weekday: "short", day: "numeric" }) : clock(time));
  const ticks = times.filter((time, place) => place !== 1 || (format(time) !== format(times[0]) && format(time) !== format(times[2])));
  return bottomAxis(at, height, ticks, format, width);
}

// One or more counts over time; the first is filled.
export function timeChart(width, rows, names, words, height = 150) {
  const values = rows.flatMap((row) => names.map((name) => row[name] ?? 0));
  const ticks = ticksTo(Math.max(...values), 3, values.every(Number.isInteger));
  const at = frame(width, height, [rows[0].time, rows.at(-1).time], [0, ticks.at(-1)]);
  const lines = names.map((name, place) => {
    const points = rows.filter((row) => row[name] !== null && row[name] !== undefined).map((row) => [at.x(row.time), at.y(row[name])]);
    if (points.length === 0) return null;
    const floor = `L${points.at(-1)[0].toFixed(1)} ${at.y(0)}L${points[0][0].toFixed(1)} ${at.y(0)}Z`;
    return [
      place === 0 && svg("path", { class: "band", d: path(points) + floor }),
      svg("path", { class: `line k${place}`, d: path(points), "stroke-dasharray": ["", "6 3", "2 3"][place] || null }),
    ];
  });
  return picture(width, height, words, leftAxis(at, width, ticks, number), lines, timeAxis(at, height, rows, width));
}

// How often predictions of a probability were right, each share with its interval; the line joins those of enough answers.
export function calibrationChart(width, bins, enough, words) {
  const height = 210;
  const at = frame(width, height, [0, 1], [0, 1]);
  const most = Math.max(...bins.map((bin) => bin.n));
  const told = bins.filter((bin) => bin.n >= enough);
  return picture(
    width, height, words,
    leftAxis(at, width, [0, 0.5, 1], (tick) => percent(tick)),
    svg("line", { class: "diagonal", x1: at.x(0), y1: at.y(0), x2: at.x(1), y2: at.y(1) }),
    bins.map((bin) => svg("line", { class: "whisker", x1: at.x(bin.predicted), x2: at.x(bin.predicted), y1: at.y(bin.low), y2: at.y(bin.high) })),
    told.length > 1 && svg("path", { class: "line k0", d: path(told.map((bin) => [at.x(bin.predicted), at.y(bin.right)])) }),
    told.map((bin) => svg("circle", { class: "k0", cx: at.x(bin.predicted), cy: at.y(bin.right), r: 3 + 5 * Math.sqrt(bin.n / most) })),
    bottomAxis(at, height, [0, 0.5, 1], (tick) => percent(tick), width),
  );
}

const pen = document.createElement("canvas").getContext("2d");

function textWidth(words, weight = "") {
  pen.font = `${weight}12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(words).width;
}

// A text that ends in dots where there is no more room; the whole of it where the mouse rests.
function shortText(words, room, properties) {
  if (textWidth(words) <= room) return svg("text", properties, words);
  const letters = [...words];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`) > room) letters.pop();
  return svg("text", properties, svg("title", {}, words), `${letters.join("").trimEnd()}…`);
}

// Horizontal bars: {name, value, limit, words}; a limit draws the track.
export function barsChart(width, rows, words) {
  const most = Math.max(1e-9, ...rows.map((row) => row.limit ?? row.value ?? 0));
  const step = 44;
  return picture(
    width, rows.length * step, words,
    rows.map((row, place) => {
      const top = place * step;
      const scale = row.limit ? width / row.limit : width / most;
      const long = Math.min(width, (row.value ?? 0) * scale);
      return [
        shortText(row.name, width - textWidth(row.words, "600 ") - 12, { x: 0, y: top + 14 }),
        svg("text", { class: "strong", x: width, y: top + 14, "text-anchor": "end" }, row.words),
        svg("rect", { class: "track", x: 0, y: top + 20, width, height: 8, rx: 4 }),
        long > 0 && svg("rect", { class: row.tone ?? "k0", stroke: "none", x: 0, y: top + 20, width: Math.max(4, long), height: 8, rx: 4 }),
      ];
    }),
  );
}

export function legend(names) {
  return h(
    "div", { class: "legend", "aria-hidden": "true" },
    names.map((name, place) => h("span", { dir: "auto" }, svg("svg", { viewBox: "0 0 10 10" }, svg("rect", { class: `k${Math.min(place, 6)}`, width: 10, height: 10, rx: 2 })), name)),
  );
}

export function table(name, head, rows) {
  return scrollBox(
    name,
    h(
      "table", {},
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", dir: "auto" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => h(place ? "td" : "th", place ? {} : { scope: "row", dir: "auto" }, String(cell ?? "–")))))),
    ),
  );
}
