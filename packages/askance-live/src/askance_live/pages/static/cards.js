// The cards of the dashboard: each a question, the answer in a sentence, a picture, and the numbers as a table.

import { bandChart, barsChart, calibrationChart, intervalChart, legend, sharesChart, table, timeChart } from "./charts.js";
import { root } from "./api.js";
import { clock, count, duration, h, number, percent, some } from "./dom.js";
import { nameOf } from "./names.js";
import { scrollBox } from "./scrolling.js";

const MOST_CLASSES = 6;
const ENOUGH = 30; // audit labels from which an estimate says something
const ENOUGH_OF_A_BIN = 10; // answers from which a share of them is drawn as a point
const VAGUE = 0.1; // an error that may be 0 or larger than this cannot be told

export const CARDS = [
  {
    question: "Is the model right?",
    answer({ accuracy: { headline }, labels, label_sets: sets }) {
      const { n, needed, estimate, low, high, baseline } = headline;
      if (!headline.enough) return labels.total ? `Too early to say: ${some(n, "answer")} so far about events that came since the model began to learn; from ${needed} on there is an estimate.` : "Too early to say: no question has been answered.";
      const verdict = low > baseline.estimate ? "Yes, better than guessing" : high < baseline.estimate ? "No, worse than guessing" : "Not clearly better than guessing";
      return `${verdict}: right on ${percent(estimate)} of ${spanOf(headline, sets)} (95 % interval ${percent(low)} to ${percent(high)}, from ${some(n, "answer")} and the chance each was asked with). Always saying ${nameOf(baseline.label)} would be right on ${percent(baseline.estimate)} of them.`;
    },
    draw({ accuracy: { headline }, labels, queue }, series, width, words) {
      if (!labels.total) return queue.open > 0 && h("p", {}, h("a", { class: "alone", href: `${root}/label` }, "Answer the first questions"));
      if (headline.enough) return intervalChart(width, headline, headline.baseline.estimate, words);
      return headline.events > 0 && barsChart(width, [{ name: "answers", value: headline.n, limit: headline.needed, words: `${count(headline.n)} of ${count(headline.needed)}` }], words);
    },
    table: ({ accuracy }) => [
      ["Accuracy", "Answers", "Estimate", "From", "To"],
      [
        ["The last events", ...estimateRow(accuracy.recent)],
        ["All", ...estimateRow(accuracy.overall)],
        ...(accuracy.baseline.label === null ? [] : [[`Always ${nameOf(accuracy.baseline.label)}`, "", percent(accuracy.baseline.estimate), "", ""]]),
        ["On what was asked (harder)", accuracy.answered.n, accuracy.answered.n ? percent(accuracy.answered.right / accuracy.answered.n) : "–", "", ""],
      ],
    ],
  },
  {
    question: "How good are the sets?",
    isShown: (stats) => stats.label_sets !== null,
    answer({ label_sets: sets, accuracy: { headline } }) {
      if (!headline.enough || sets.micro_f1.estimate === null) return `Too early to say: it takes ${headline.needed} answers about labels.`;
      const { estimate, low, high } = sets.micro_f1;
      return `Micro F1 ${percent(estimate)} (95 % interval ${percent(low)} to ${percent(high)}), macro F1 ${percent(sets.macro_f1)}; ${percent(sets.hamming_loss, 1)} of all labels are wrong. How often a whole set is right cannot be told from questions about single labels.`;
    },
    draw: ({ label_sets: sets, accuracy: { headline } }, series, width, words) =>
      headline.enough && barsChart(width, Object.entries(sets.labels).filter(([, label]) => label.f1 !== null).slice(0, MOST_CLASSES).map(([name, label]) => ({ name, value: label.f1, limit: 1, words: percent(label.f1) })), words),
    table: ({ label_sets: sets }) => [["Label", "Precision", "Recall", "F1"], Object.entries(sets.labels).map(([name, label]) => [name, percent(label.precision), percent(label.recall), percent(label.f1)])],
  },
  {
    question: "Is it improving per label?",
    wide: true,
    answer(stats, series) {
      const points = series?.by_label ?? [];
      if (points.length < 2 || !stats.accuracy.headline.enough) return "Too early to say: it takes some answers.";
      const [first, last] = [points[Math.min(points.length - 1, Math.floor(points.length / 4))], points.at(-1)];
      const word = last.low > first.high ? "Yes, it improved" : last.high < first.low ? "No, it got worse" : null;
      const chance = word ? "" : " The intervals overlap, so the difference may be chance.";
      return `${word ?? "Too early to say"}: right on ${withInterval(first)} after ${some(first.labels, "label")} and on ${withInterval(last)} after ${count(last.labels)}.${chance} Dashed: guessing.`;
    },
    draw(stats, series, width, words) {
      const points = series?.by_label ?? [];
      return points.length > 1 && stats.accuracy.headline.enough && bandChart(width, points, stats.accuracy.headline.baseline.estimate, words);
    },
    table: (stats, series) => [
      ["Labels", "Estimate", "From", "To"],
      thinned(series?.by_label ?? [], 20).map((point) => [count(point.labels), percent(point.estimate), percent(point.low), percent(point.high)]),
    ],
  },
  {
    question: "Is the world changing?",
    answer({ drift, classes_mix: mix }) {
      const word = { none: "No sign of it.", unknown: "Too early to say:", drift: "Yes." }[drift.level] ?? "";
      return `${word} ${drift.detail}${drift.since ? ` Since ${clock(drift.since)}.` : ""}${sumOf(mix.predicted) ? " Below: what the model predicted, by class." : ""}`;
    },
    draw(stats, series, width, words) {
      const { rows, names } = mixOf(stats, series);
      if (rows.length > 1) return [sharesChart(width, rows, names, words), legend(names)];
      const counts = Object.entries(stats.classes_mix.predicted).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]).slice(0, 4);
      const all = sumOf(stats.classes_mix.predicted);
      return counts.length > 0 && barsChart(width, counts.map(([label, n]) => ({ name: nameOf(label), value: n, limit: all, words: percent(n / all) })), words);
    },
    table({ classes_mix: mix }) {
      const [all, recent] = [sumOf(mix.predicted), sumOf(mix.recent)];
      const rows = Object.keys(mix.predicted).map((label) => [nameOf(label), share(mix.predicted[label], all), share(mix.recent[label], recent)]);
      return [["Class", "Of all", "Of the last 10 minutes"], rows];
    },
  },
  {
    question: "Are we keeping up?",
    answer({ events, model, latency_ms: latency, paused, queue }, series) {
      const slow = latency.ingest?.p99 ? ` 99 % of requests with events are answered within ${number(latency.ingest.p99)} ms.` : "";
      const late = paused ? " while learning is paused" : model.lag_seconds > 2 ? `, the oldest for ${duration(model.lag_seconds)} too long` : "";
      const learner = model.waiting ? `${some(model.waiting, "answer")} ${waits(model.waiting)} to be learned${late}.` : "The learner has learned every answer.";
      return `${number(events.per_second)} events a second now, ${count(events.today)} today. ${learner} ${openInWords(queue, series)}${slow}`;
    },
    draw: (stats, series, width, words) => {
      const rows = rowsOf(series, (point) => ({ events: point.events / (series.step / 60) }), true);
      return rows.length > 1 && [timeChart(width, rows, ["events"], words), legend(["events per minute"])];
    },
    table: ({ latency_ms: latency, model }) => [
      ["Latency, last 5 minutes", "Median", "99 %"],
      [
        ...Object.entries(latency).map(([name, value]) => [name, value?.p50 ? `${number(value.p50)} ms` : "–", value?.p99 ? `${number(value.p99)} ms` : "–"]),
        ["learner behind by", duration(model.lag_seconds), ""],
        ["answers that wait to be learned", count(model.waiting), ""],
      ],
    ],
  },
  {
    question: "How long is the queue?",
    answer({ queue }) {
      const age = queue.oldest_seconds === null ? "" : ` The oldest waits ${duration(queue.oldest_seconds)}, half of them longer than ${duration(queue.median_age_seconds)}.`;
      return `${some(queue.open, "open question")}, ${count(queue.leased)} in somebody's hands, ${count(queue.parked)} parked, ${count(queue.expired)} expired.${age}`;
    },
    draw: (stats, series, width, words) => {
      const rows = rowsOf(series, (point) => ({ open: point.open ?? 0, asked: point.asks, answered: point.answers, expired: point.expired }));
      return rows.length > 1 && [timeChart(width, rows, ["open", "asked", "answered", "expired"], words), legend(["open", "asked", "answered", "expired"])];
    },
    table: ({ queue }) => [["Questions", "Number"], ["open", "leased", "parked", "answered", "closed", "expired"].map((name) => [name, count(queue[name])])],
  },
  {
    question: "Do its probabilities mean what they say?",
    answer({ calibration, quality, accuracy: { headline } }) {
      const n = sum(calibration.map((bin) => bin.n));
      if (n < ENOUGH) return `Too early to say: ${some(n, "answer")} of ${ENOUGH}.`;
      const error = headline.enough && quality[headline.span === "recent" ? "recent" : "overall"].estimates.calibration_error; // of two classes
      return `${error ? errorInWords(error) : binsInWords(calibration)} On the dotted line they would be exact; below it the model is too sure. Bars: 95 % intervals.`;
    },
    draw: ({ calibration }, series, width, words) => sum(calibration.map((bin) => bin.n)) >= ENOUGH && calibrationChart(width, calibration, ENOUGH_OF_A_BIN, words),
    table: ({ calibration }) => [["Said", "Labels", "Mean", "Right", "From", "To"], calibration.map((bin) => [`${percent(bin.from)} to ${percent(bin.to)}`, bin.n, percent(bin.predicted), percent(bin.right), percent(bin.low), percent(bin.high)])],
  },
  {
    question: "How long do labels take?",
    answer({ labels }) {
      const { median, p90 } = labels.delay_seconds;
      return median === null ? "No labels yet." : `From event to label: half within ${duration(median)}, nine in ten within ${duration(p90)}.`;
    },
    draw: ({ labels: { delay_seconds: delay } }, series, width, words) =>
      delay.median !== null && barsChart(width, [{ name: "half within", value: delay.median, words: duration(delay.median) }, { name: "nine in ten within", value: delay.p90, words: duration(delay.p90) }], words),
    table: ({ labels }) => [
      ["Labels", "Number"],
      [...Object.entries(labels.per_class).map(([name, n]) => [name, count(n)]), ["from first questions", count(labels.cold_start)], ["from random checks", count(labels.audit)], ["extra (not learned)", count(labels.extra)],
        ...Object.entries(labels.skipped).map(([name, n]) => [`skipped: ${name.replace("_", " ")}`, count(n)])],
    ],
  },
  {
    question: "Who labels?",
    answer: ({ people }) => (people.length ? `${people.length === 1 ? "One person" : `${people.length} people`}, ${some(sum(people.map((person) => person.last_hour)), "label")} in the last hour.` : "Nobody yet."),
    draw: ({ people }) => people.length > 0 && peopleTable(people),
  },
  {
    question: "What does it confuse?",
    wide: true,
    answer({ confusion }) {
      const n = sum(confusion.all.flat());
      if (n < ENOUGH) return n ? `Too early to say: ${some(n, "answer")} of ${ENOUGH}.` : "Nothing so far.";
      const worst = worstPair(confusion);
      const basis = sum(confusion.audit.flat()) >= ENOUGH ? "random checks" : "all labels (the harder events)";
      return worst ? `Mostly ${worst.truth} taken for ${worst.predicted}: ${worst.n} of ${worst.of}. Counted over ${basis}.` : "Nothing so far.";
    },
    draw: ({ confusion }) => sum(confusion.all.flat()) > 0 && matrix(confusion),
  },
  {
    question: "Is the budget spent?",
    answer({ budget }) {
      if (budget.exhausted) return `Yes.${budget.next_at ? ` Questions go on at ${clock(budget.next_at)}.` : ""}`;
      const parts = spansOf(budget);
      const limited = parts.filter(([, part]) => part.limit !== null).map(([name, part]) => `${count(part.spent)} of ${count(part.limit)} ${name}`);
      const classes = Object.values(budget.by_class);
      if (classes.length) limited.push(`${count(classes.filter(({ spent, limit }) => spent >= limit).length)} of ${count(classes.length)} predicted classes have had their ${some(classes[0].limit, "question")}`);
      const spread = budget.pace ? ` The rest is spread over the ${budget.pace.period}, about one question every ${duration(budget.pace.seconds)}.` : "";
      return limited.length ? `No: ${limited.join(", ")}.${spread}` : `There is no limit but ${shareOf(budget)}; ${some(budget.total.spent, "question")} asked so far.`;
    },
    draw: ({ budget }, series, width, words) =>
      barsChart(width, [...spansOf(budget), ...Object.entries(budget.by_class).slice(0, MOST_BARS)].map(([name, { spent, limit }]) => ({
        name, value: limit === null ? 0 : spent, limit, words: limit === null ? `${count(spent)}, no limit` : `${count(spent)} of ${count(limit)}`, tone: limit !== null && spent >= limit ? "k1" : "k0",
      })), words),
  },
];

const MOST_BARS = 20; // of classes
const spansOf = (budget) => Object.entries(budget.spans).map(([words, name]) => [words, budget[name]]);
const shareOf = ({ rate, head }) => (rate < 1 ? `a share of ${percent(rate)} of the events, after the first ${count(head)} questions` : "the algorithm's own judgment");
const spanOf = ({ span, events, unreachable }, sets) => {
  const asked = unreachable ? ` that could be asked (${count(unreachable)} others could not),` : "";
  const things = `${count(events)} ${sets ? "labels of events" : "events"}${asked}`;
  return span === "recent" ? `the last ${things}` : `the ${things} since it began to learn`;
};
const withInterval = ({ estimate, low, high }) => `${percent(estimate)} (95 % interval ${percent(low)} to ${percent(high)})`;
const waits = (n) => (n === 1 ? "waits" : "wait");
const sum = (values) => values.reduce((total, value) => total + value, 0);
const sumOf = (counts) => sum(Object.values(counts));
const share = (n, of) => (of ? percent(n / of) : "–");
const estimateRow = ({ n, estimate, low, high }) => [n, percent(estimate), n ? percent(low) : "–", n ? percent(high) : "–"];

// An average error, as far as it can be told from none.
function errorInWords({ value, low, high }) {
  const most = `${percent(high)} on average, or not at all`;
  if (low >= 0.005) return `They are off by ${withInterval({ estimate: value, low, high })} on average.`;
  return high > VAGUE ? `Too few answers to tell: they may be off by up to ${most}.` : `They are off by at most ${most}.`;
}

// The same by the shares of right predictions, those of enough answers.
function binsInWords(bins) {
  const told = bins.filter((bin) => bin.n >= ENOUGH_OF_A_BIN);
  const off = told.filter((bin) => bin.predicted < bin.low || bin.predicted > bin.high);
  if (told.length === 0) return "Too few answers to tell.";
  if (off.length === 0) return "Nothing shows that they are off: every interval reaches the dotted line.";
  return `They are off where they say ${off.map((bin) => `${percent(bin.predicted)} (right: ${percent(bin.low)} to ${percent(bin.high)})`).join(", ")}.`;
}

// Whether people answer as fast as it is asked, by how many questions were open at first and are now.
function openInWords(queue, series) {
  const before = series?.points.find((point) => point.open !== null);
  const grown = before ? queue.open - before.open : 0;
  const change = grown ? `, ${count(Math.abs(grown))} ${grown > 0 ? "more" : "fewer"} than at ${clock(before.time)}` : "";
  return queue.open ? `${some(queue.open, "question")} ${waits(queue.open)} for people${change}.` : "No question waits for people.";
}

function thinned(points, most) {
  const step = Math.max(1, Math.ceil(points.length / most));
  return points.filter((_, place) => place % step === 0 || place === points.length - 1);
}

// Points over time from the first that has events; the minute under way is left out, as it is not over. Rates also leave
// out the first, which did not last as long as the others.
function rowsOf(series, pick, isRate = false) {
  const points = series?.points ?? [];
  const first = points.findIndex((point) => point.events > 0 || point.answers > 0);
  const from = isRate && first > 0 ? first + 1 : first;
  const used = first < 0 ? [] : points.slice(from, isRate || points.length > first + 2 ? -1 : undefined);
  return used.map((point) => ({ time: Date.parse(point.time), ...pick(point) }));
}

// The largest classes and the rest together, as shares per point in time.
function mixOf(stats, series) {
  const sorted = Object.entries(stats.classes_mix.predicted).sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const top = sorted.length > MOST_CLASSES + 1 ? sorted.slice(0, MOST_CLASSES) : sorted;
  const names = top.length < sorted.length ? [...top.map(nameOf), "all others"] : top.map(nameOf);
  const rows = rowsOf(series, (point) => ({ predicted: point.predicted })).filter((row) => sumOf(row.predicted) > 0);
  for (const row of rows) {
    const total = sumOf(row.predicted);
    row.shares = Object.fromEntries(top.map((label) => [nameOf(label), (row.predicted[label] ?? 0) / total]));
    if (names.length > top.length) row.shares["all others"] = Math.max(0, 1 - sum(Object.values(row.shares)));
  }
  return { rows, names };
}

function peopleTable(people) {
  const rows = people.map((person) => [person.name, count(person.labels), count(person.last_hour), duration(person.median_seconds), count(person.skips), person.agreement === null ? "–" : percent(person.agreement)]);
  return table("Who labels?", ["Name", "Labels", "Last hour", "Median time", "Skips", "Agrees"], rows);
}

function chosenMatrix(confusion) {
  return sum(confusion.audit.flat()) >= ENOUGH ? confusion.audit : confusion.all;
}

function worstPair(confusion) {
  let worst = null;
  chosenMatrix(confusion).forEach((row, truth) =>
    row.forEach((n, predicted) => {
      if (truth !== predicted && n > (worst?.n ?? 0)) worst = { n, of: sum(row), truth: nameOf(confusion.labels[truth]), predicted: nameOf(confusion.labels[predicted]) };
    }),
  );
  return worst;
}

function matrix(confusion) {
  const counts = chosenMatrix(confusion);
  const cell = (n, row, right) => {
    const element = h("td", { class: n ? (right ? "right" : "wrong") : "none" }, n ? count(n) : "·");
    element.style.setProperty("--share", String(n / Math.max(1, sum(row))));
    return element;
  };
  const box = scrollBox(
    "Confusion matrix",
    h(
      "table", { class: confusion.labels.length > 5 ? "matrix small many" : "matrix small" },
      h("caption", { class: "hidden" }, "Rows: what people said. Columns: what the model had predicted."),
      h("thead", {}, h("tr", {}, h("th", {}, "said \\ predicted"), confusion.labels.map(nameOf).map((name) => h("th", { scope: "col", dir: "auto", title: name }, name)))),
      h("tbody", {}, counts.map((row, truth) => h("tr", {}, h("th", { scope: "row", dir: "auto", title: nameOf(confusion.labels[truth]) }, nameOf(confusion.labels[truth])), row.map((n, predicted) => cell(n, row, truth === predicted))))),
    ),
  );
  return [box, h("p", { class: "cue", hidden: true }, "scroll sideways for more classes →")];
}
