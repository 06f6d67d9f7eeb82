"""The numbers behind every chart of the dashboard, read from the store and from the engine's counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

import askance
from askance.data.encoding.kinds import IGNORE
from askance.evaluate.quality import Quality
from askance.learner.auto.decaying_rate import HEAD
from askance.learner.budget_kinds import DAY, HOUR
from askance_live.clock import iso
from askance_live.dashboard.counts import COUNTED, empty_counts, minutes_between
from askance_live.dashboard.stored_counts import DashboardCounts
from askance_live.engine.exploration import AUDIT, COLD_START
from askance_live.engine.label_sets import NO, YES, LabelSetTracker, read_questions
from askance_live.engine.label_space import each_known, is_set, same_where_both_known
from askance_live.engine.quality_tracker import ENOUGH, QualityTracker, round_quality
from askance_live.engine.quarantine import newest
from askance_live.engine.spending import spending
from askance_live.engine.state import EngineState
from askance_live.questions.answers import SKIPS
from askance_live.questions.queue import lengths
from askance_live.questions.states import BY_ONE, IN_PLAY, KEPT, OUT, VALID, AnswerState, QuestionState, one_of
from askance_live.store.database import Session
from askance_live.store.rows import Query

if TYPE_CHECKING:
    from askance_live.service import Service

Z = 1.959964  # standard deviations of a normal distribution to either side: 95%
RECENT = 2_000  # answers for calibration, delays, times and agreement
RECENT_MINUTES = 10
RECENT_AUDITS = 100  # audit labels for which an alarm is shown
MOST_PEOPLE = 100
MOST_WIDENED = 20
CREATED = (
    f"SELECT created FROM asks WHERE state IN {one_of(IN_PLAY)} AND state <> '{QuestionState.PARKED}' ORDER BY created "
    "LIMIT ? OFFSET ?"
)
LAST_HOUR = (
    f"SELECT count(*) FROM answers WHERE annotator = ? AND created > ? AND created <= ? "
    f"AND kind IN {one_of(BY_ONE)} AND state <> '{AnswerState.UNDONE}'"
)
WAITING = f"SELECT count(*) FROM answers WHERE state = '{AnswerState.WAITING}'"
AGREEMENT = (
    "SELECT a.annotator, sum(CASE WHEN {same} THEN 1 ELSE 0 END), count(*) FROM ("
    f"SELECT event, annotator, label, state FROM answers WHERE kind IN {one_of(BY_ONE)} ORDER BY seq DESC LIMIT ?) a "
    "JOIN answers b ON b.event = a.event AND b.annotator <> a.annotator "
    f"AND b.kind IN {one_of(BY_ONE)} AND b.label IS NOT NULL AND b.state IN {one_of(KEPT)} "
    f"WHERE a.label IS NOT NULL AND a.state IN {one_of(KEPT)} GROUP BY a.annotator"
)


def stats(session: Session, service: Service) -> dict[str, Any]:
    """Everything /v1/stats says."""
    engine, now = service.engine, service.clock.now()
    state = engine.state
    (totals, learned), classes = engine.committed, state.classes
    minutes = minutes_between(session, int(now // 60) - RECENT_MINUTES + 1, int(now // 60), len(classes))
    reasons = service.ready()
    counts, last = DashboardCounts(session), last_answers(session)
    return {
        "time": iso(now),
        "title": service.config.title,
        "version": askance.__version__,
        "uptime": round(service.uptime(), 1),
        "classes": state.shown,
        "retired": state.label_schema.retired,
        "names": state.label_schema.names,
        "label_sets": describe_label_sets(state),
        "algorithm": state.learner.algorithm,
        "paused": state.paused,
        "health": {"ready": not reasons, "reasons": reasons},
        "events": {
            "total": totals["events"],
            "per_second": service.events_per_second(),
            "today": state.period_counts.number("events", DAY, now),
        },
        "model": {
            "version": learned,
            "learned": learned,
            "waiting": int(session.value(WAITING)),
            "lag_seconds": round(service.lag(), 3),
            "checkpoint": state.checkpoint,
            "corrections": totals["corrections"],
            "fields": len(state.learner.features.kinds),
            "most_fields": service.config.server.fields,
        },
        "quarantine": _quarantine(session, state),
        "queue": _queue(session, counts, now),
        "budget": {**spending(state, now), "head": int(HEAD)},
        "labels": _labels(counts, state, last),
        "accuracy": _accuracy(counts, state),
        "quality": {
            "overall": state.overall.to_dict(),
            "recent": {**state.recent.to_dict(), "window": state.learner.tracker.window},
        },
        "classes_mix": {
            "predicted": by_class(state, totals["predicted"]),
            "recent": by_class(
                state, [sum(row["predicted"][place] for _, row in minutes) for place in range(len(classes))]
            ),
        },
        "confusion": _confusion(counts, state),
        "calibration": _calibration(last),
        "drift": drift(state.learner.tracker),
        "people": _people(session, counts, last, now, state.labels.are_sets),
        "latency_ms": service.metrics.latencies(),
    }


def _quarantine(session: Session, state: EngineState) -> dict[str, Any]:
    held = state.quarantine
    widened = state.learner.features.encoder.promoted[-MOST_WIDENED:]
    return {
        "held": held.held,
        "bytes": held.bytes,
        "dropped": held.dropped,
        "replayed": state.totals["replayed"],
        "newest": newest(session) if held.held else [],
        "widened": [{"field": name, "before": before, "now": now} for name, before, now in widened if before != IGNORE],
    }


def by_class(state: EngineState, values: Sequence[Any]) -> dict[str, Any]:
    """Values by class, from the order of their places to that of the pages; one that was added just now has none."""
    places = ((label, state.place_of[label]) for label in state.shown)
    return {label: values[place] if place < len(values) else 0 for label, place in places}


def _queue(session: Session, counts: DashboardCounts, now: float) -> dict[str, Any]:
    found: dict[str, Any] = {**lengths(session), **{state.value: counts.number("ask", state) for state in OUT}}
    waiting = found[QuestionState.OPEN] + found[QuestionState.LEASED]
    oldest = session.value(CREATED, (1, 0))
    middle = session.all(CREATED, (2 - waiting % 2, (waiting - 1) // 2)) if waiting else []
    found["oldest_seconds"] = None if oldest is None else round(max(0.0, now - oldest), 1)
    found["median_age_seconds"] = round(max(0.0, now - median(created for (created,) in middle)), 1) if middle else None
    return found


class RecentAnswer(NamedTuple):
    """One of the last answers, with what was said of its event when that came."""

    annotator: str
    ms: int | None
    label: int | None
    state: str
    delay: float
    probabilities: str
    predicted: int
    asked: int
    probability: float
    version: int
    scores: str

    @property
    def is_valid(self) -> bool:
        return self.state in VALID and self.label is not None


LAST_ANSWERS = Query(
    RecentAnswer,
    "answers a JOIN events e ON e.seq = a.event",
    "ORDER BY a.seq DESC LIMIT ?",
    delay="a.created - e.received",
)


def last_answers(session: Session) -> list[RecentAnswer]:
    """The last answers, newest first."""
    return LAST_ANSWERS.all(session, (RECENT,))


def _labels(counts: DashboardCounts, state: EngineState, last: list[RecentAnswer]) -> dict[str, Any]:
    are_sets = state.labels.are_sets
    per_class = counts.per_place(are_sets)
    kinds = Counter(counts.of.get("set", {})) if are_sets else counts.by("why")
    delays = sorted(max(0.0, row.delay) for row in last if row.is_valid)
    return {
        "total": kinds.total(),
        "audit": kinds[AUDIT],
        "cold_start": kinds[COLD_START],
        "per_class": by_class(state, [per_class[place] for place in range(len(state.classes))]),
        "extra": counts.number("extra"),
        "skipped": {reason: counts.number("skip", reason) for reason in SKIPS},
        "delay_seconds": {
            "median": round(median(delays), 2) if delays else None,
            "p90": round(delays[int(0.9 * len(delays))], 2) if delays else None,
        },
    }


def _accuracy(counts: DashboardCounts, state: EngineState) -> dict[str, Any]:
    """Of all events, estimated by the answers and the probabilities they were asked with; and who always says one.

    The headline is about the last events where enough of them are answered, else about all; it says nothing before.
    Where events that could not be asked leave the interval too wide, it is about the others.
    """
    overall, recent = state.overall, state.recent
    shown = state.headline
    told = shown.telling("accuracy")
    answered = counts.by("label", "predicted")
    return {
        "headline": {
            **round_quality(told),
            "span": "recent" if shown.events < overall.events else "all",
            "events": told.events,
            "unreachable": shown.events - told.events,
            "enough": told.labels >= ENOUGH,
            "needed": ENOUGH,
            "baseline": baseline(told),
        },
        "overall": round_quality(overall),
        "recent": round_quality(recent),
        "baseline": baseline(overall),
        "answered": {
            "n": answered.total(),
            "right": sum(n for (label, predicted), n in answered.items() if label == predicted),
        },
    }


def baseline(quality: Quality) -> dict[str, Any]:
    """Who always says the most frequent class, by the same answers, would be right on so many of the same events."""
    if not quality.labels:
        return {"label": None, "estimate": None}
    label = max(quality.shares, key=quality.shares.__getitem__)
    return {"label": label, "estimate": round(quality.shares[label], 6)}


def _confusion(counts: DashboardCounts, state: EngineState) -> dict[str, Any]:
    """Truth by prediction: over the audits, and over all labels; of label sets, by yes and no."""
    names = [NO, YES] if state.labels.are_sets else state.shown
    shown = {place if state.labels.are_sets else state.place_of[name]: place for place, name in enumerate(names)}

    def table(**wanted: Any) -> list[list[int]]:
        matrix = [[0] * len(shown) for _ in shown]
        for (truth, predicted), n in counts.by("label", "predicted", **wanted).items():
            matrix[shown[truth]][shown[predicted]] = n
        return matrix

    return {"labels": names, "audit": table(why=AUDIT), "all": table()}


def _calibration(last: list[RecentAnswer]) -> list[dict[str, Any]]:
    """How often predictions made with some probability were right, by that probability, weighted to the stream, with
    the interval of as many equal answers as have the variance of the weighted ones."""
    sums = [[0.0, 0.0, 0.0, 0.0, 0.0] for _ in range(10)]
    for item in last:
        if not item.is_valid or not item.version:
            continue
        for chance, is_right, weight in _predictions(item):
            row = sums[min(9, int(10 * chance))]
            row[0] += 1
            row[1] += weight
            row[2] += weight * chance
            row[3] += weight * is_right
            row[4] += weight * weight
    total = sum(row[1] for row in sums)
    return [
        {
            "from": place / 10,
            "to": (place + 1) / 10,
            "n": int(n),
            "share": round(weight / total, 6),
            "predicted": round(predicted / weight, 4),
            "right": round(right / weight, 4),
            **wilson_interval(right / weight, weight * weight / squares),
        }
        for place, (n, weight, predicted, right, squares) in enumerate(sums)
        if n
    ]


def wilson_interval(share: float, n: float) -> dict[str, float]:
    """The 95% interval of a share of ``n`` answers by Wilson's score."""
    spread = Z * Z / n
    middle, half = share + spread / 2.0, Z * sqrt(share * (1.0 - share) / n + spread / (4.0 * n))
    low, high = ((middle + side * half) / (1.0 + spread) for side in (-1.0, 1.0))
    return {"low": round(max(0.0, low), 4), "high": round(min(1.0, high), 4)}


def _predictions(item: RecentAnswer) -> Iterator[tuple[float, bool, float]]:
    """What was predicted of an answered event, or of each label that was answered: with which probability, whether it
    was right, and how many such predictions it stands for."""
    chances = msgspec.json.decode(item.probabilities)
    label = item.label or 0
    if not is_set(label):
        weight = 1.0 / item.probability if item.asked and item.probability > 0 else 1.0
        yield chances[item.predicted], item.predicted == label, weight
        return
    questions = read_questions(item.scores)
    for place, has_label in each_known(label):
        predicted, question = bool(item.predicted >> place & 1), questions[place]
        weight = 1.0 / question.probability if question.asked and question.probability > 0 else 1.0
        yield chances[place] if predicted else 1.0 - chances[place], predicted == has_label, weight


def describe_label_sets(state: EngineState) -> dict[str, Any] | None:
    """How good predicted sets are; None where each event has one class. Of single answers nobody can tell how often a
    whole set is right."""
    tracker = state.learner.tracker
    if not isinstance(tracker, LabelSetTracker):
        return None
    shown = state.headline
    by_label = tracker.by_label()
    values = [found["f1"] for found in by_label.values() if found["f1"] is not None]
    accuracy = round_quality(shown)
    micro = [None if not shown.labels else round(number, 6) for number in shown.f1]
    return {
        "answers": shown.labels,
        "micro_f1": dict(zip(("estimate", "low", "high"), micro, strict=True)),
        "macro_f1": round(sum(values) / len(values), 6) if values else None,
        "hamming_loss": None if accuracy["estimate"] is None else round(1.0 - accuracy["estimate"], 6),
        "subset_accuracy": None,
        "labels": {name: by_label[name] for name in state.config.classes},
    }


def _people(
    session: Session, counts: DashboardCounts, last: list[RecentAnswer], now: float, are_sets: bool
) -> list[dict[str, Any]]:
    times: dict[str, list[int]] = {}
    for row in last:
        if row.ms is not None:
            times.setdefault(row.annotator, []).append(row.ms)
    agreement = _agreement(session, are_sets)
    names = counts.of.get("labels", {}).keys() | counts.of.get("skips", {}).keys()
    shown = sorted(names, key=lambda name: (-counts.number("labels", name), name))[:MOST_PEOPLE]
    return [
        {
            "name": name,
            "labels": counts.number("labels", name),
            "last_hour": int(session.value(LAST_HOUR, (name, now - HOUR, now))),
            "median_seconds": round(median(times[name]) / 1000, 2) if name in times else None,
            "skips": counts.number("skips", name),
            "agreement": agreement.get(name),
        }
        for name in shown
    ]


def _agreement(session: Session, are_sets: bool) -> dict[str, float]:
    """The share of each annotator's recent answers that somebody else gave to the same event too."""
    same = same_where_both_known("a.label", "b.label") if are_sets else "a.label = b.label"
    rows = session.all(AGREEMENT.format(same=same), (RECENT,))
    return {name: round(int(same) / int(both), 4) for name, same, both in rows}


def drift(tracker: QualityTracker) -> dict[str, Any]:
    """Whether mistakes have become more frequent in the random sample, by the library's signal."""
    sampled, alarm = tracker.drift.sampled, tracker.alarm
    if alarm is not None and sampled - alarm["sampled"] < RECENT_AUDITS:
        detail = f"Mistakes in the random sample became clearly more frequent, {sampled - alarm['sampled']} labels ago."
        return {"level": "drift", "since": iso(alarm["received"]), "detail": detail}
    if sampled < ENOUGH:
        detail = f"{sampled} labels of events taken at random so far; it takes {ENOUGH}."
        return {"level": "unknown", "since": None, "detail": detail}
    detail = f"Watched by {sampled:,} labels of events taken at random; {tracker.drift.alarms} alarms so far."
    return {"level": "none", "since": None, "detail": detail}


def series(session: Session, service: Service, minutes: int, points: int) -> dict[str, Any]:
    """Counts over time, and the accuracy of the random sample over labels."""
    now = service.clock.now()
    classes = service.engine.state.classes
    step = max(1, -(-minutes // points))
    first = (int(now // 60) - minutes + 1) // step * step
    sums: dict[int, dict[str, Any]] = {
        place: empty_counts(len(classes)) for place in range(first, int(now // 60) + 1, step)
    }
    for minute, row in minutes_between(session, first, int(now // 60), len(classes)):
        into = sums.get(minute // step * step if step > 1 else minute)
        if into is None:
            continue
        for name in (*COUNTED, "margin", "probability"):
            into[name] += row[name]
        into["open"] = row["open"] if row["open"] is not None else into["open"]
        for name in ("predicted", "labeled"):
            into[name] = [a + b for a, b in zip(into[name], row[name], strict=True)]
    is_open = None
    for row in sums.values():  # a minute in which nothing happened left the queue as it was
        is_open = row["open"] = is_open if row["open"] is None else row["open"]
    return {
        "step": 60 * step,
        "from": iso(first * 60),
        "to": iso(now),
        "points": [_point(place, row, service.engine.state) for place, row in sums.items()],
        "by_label": [
            {"labels": labels, "estimate": round(value, 6), "low": round(low, 6), "high": round(high, 6)}
            for labels, value, low, high in service.engine.state.learner.tracker.curve
        ],
    }


def _point(minute: int, row: dict[str, Any], state: EngineState) -> dict[str, Any]:
    events = row["events"]
    return {
        "time": iso(minute * 60),
        **{name: row[name] for name in (*COUNTED, "open")},
        "predicted": by_class(state, row["predicted"]),
        "labeled": by_class(state, row["labeled"]),
        "mean_margin": round(row["margin"] / events, 4) if events else None,
        "mean_ask_probability": round(row["probability"] / events, 4) if events else None,
    }
