"""The numbers behind every chart of the dashboard, read from the store and from the engine's counters."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec

import askance
from askance.learner.auto.gradual import HEAD
from askance.live.asking import AUDIT, COLD_START
from askance.live.clock import iso
from askance.live.counts import COUNTED, empty_counts, minutes_after
from askance.live.spending import spending
from askance.live.state import State
from askance.live.store.database import Session
from askance.live.watching import WINDOW, Watch, rounded

if TYPE_CHECKING:
    from askance.live.service import Service

RECENT = 5_000  # labels for calibration and delays
RECENT_MINUTES = 10
RECENT_AUDITS = 100  # audit labels for which an alarm is shown
TOO_FEW = 30  # audit labels
VALID = "a.state IN ('waiting', 'learned') AND a.label IS NOT NULL"


def stats(session: Session, service: Service) -> dict[str, Any]:
    """Everything /v1/stats says."""
    engine, now = service.engine, service.clock.now()
    state = engine.state
    totals, classes = state.totals, state.classes
    minutes = minutes_after(session, int(now // 60) - RECENT_MINUTES, len(classes))
    reasons = service.ready()
    today = minutes_after(session, int(now // 86400) * 1440 - 1, len(classes))
    return {
        "time": iso(now),
        "title": service.config.title,
        "version": askance.__version__,
        "uptime": round(service.uptime(), 1),
        "classes": state.config.classes,
        "algorithm": service.config.model.algorithm,
        "paused": state.paused,
        "health": {"ready": not reasons, "reasons": reasons},
        "events": {
            "total": totals["events"],
            "per_second": service.events_per_second(),
            "today": sum(row["events"] for _, row in today),
        },
        "model": {
            "version": state.learned,
            "learned": state.learned,
            "waiting": int(session.value("SELECT count(*) FROM answers WHERE state = 'waiting'")),
            "lag_seconds": round(service.lag(), 3),
            "checkpoint": state.checkpoint,
            "corrections": totals["corrections"],
            "fields": len(state.learner.features.kinds),
            "most_fields": service.config.server.fields,
        },
        "queue": _queue(session, now),
        "budget": {**spending(session, state, now), "head": int(HEAD)},
        "labels": _labels(session, state),
        "accuracy": _accuracy(session, state),
        "quality": {"overall": state.overall.to_dict(), "recent": {**state.recent.to_dict(), "window": WINDOW}},
        "classes_mix": {
            "predicted": by_class(state, totals["predicted"]),
            "recent": by_class(
                state, [sum(row["predicted"][place] for _, row in minutes) for place in range(len(classes))]
            ),
        },
        "confusion": _confusion(session, state),
        "calibration": _calibration(session),
        "drift": drift(state.learner.watch),
        "people": _people(session, now),
        "latency_ms": service.metrics.latencies(),
    }


def by_class(state: State, values: Sequence[Any]) -> dict[str, Any]:
    """Values by class, from the order of the model to that of the settings."""
    return {label: values[state.place_of[label]] for label in state.config.classes}


def _queue(session: Session, now: float) -> dict[str, Any]:
    counts: dict[str, int] = dict(session.all("SELECT state, count(*) FROM asks GROUP BY state"))
    ages = sorted(now - row[0] for row in session.all("SELECT created FROM asks WHERE state IN ('open', 'leased')"))
    found: dict[str, Any] = {
        name: int(counts.get(name, 0)) for name in ("open", "leased", "parked", "expired", "answered", "closed")
    }
    found["oldest_seconds"] = round(ages[-1], 1) if ages else None
    found["median_age_seconds"] = round(median(ages), 1) if ages else None
    return found


def _labels(session: Session, state: State) -> dict[str, Any]:
    per_class: dict[int, int] = dict(
        session.all(f"SELECT a.label, count(*) FROM answers a WHERE {VALID} GROUP BY a.label")
    )
    skips: dict[str, int] = dict(
        session.all("SELECT reason, count(*) FROM answers WHERE state = 'skipped' GROUP BY reason")
    )
    delays = sorted(
        row[0]
        for row in session.all(
            f"SELECT a.created - e.received FROM answers a JOIN events e ON e.seq = a.event WHERE {VALID} "
            "ORDER BY a.seq DESC LIMIT ?",
            (RECENT,),
        )
    )
    kinds: dict[str, int] = dict(
        session.all(
            "SELECT q.why, count(*) FROM answers a JOIN events e ON e.seq = a.event JOIN asks q ON q.id = e.asked "
            f"WHERE {VALID} GROUP BY q.why"
        )
    )
    return {
        "total": sum(per_class.values()),
        "audit": int(kinds.get(AUDIT, 0)),
        "cold_start": int(kinds.get(COLD_START, 0)),
        "per_class": by_class(state, [int(per_class.get(place, 0)) for place in range(len(state.classes))]),
        "extra": int(session.value("SELECT count(*) FROM answers WHERE state = 'extra'")),
        "skipped": {reason: int(skips.get(reason, 0)) for reason in ("unsure", "bad_data", "later")},
        "delay_seconds": {
            "median": round(median(delays), 2) if delays else None,
            "p90": round(delays[int(0.9 * len(delays))], 2) if delays else None,
        },
    }


def _accuracy(session: Session, state: State) -> dict[str, Any]:
    """Of all events, estimated by the answers and the probabilities they were asked with; and who always says one."""
    classes = state.classes
    rows = session.all(
        "SELECT a.label, count(*), sum(CASE WHEN e.predicted = a.label THEN 1 ELSE 0 END), "
        "sum(CASE WHEN e.asked > 0 AND e.probability > 0 THEN 1.0 / e.probability ELSE 0.0 END) FROM answers a "
        f"JOIN events e ON e.seq = a.event WHERE {VALID} GROUP BY a.label"
    )
    weights = [0.0] * len(classes)
    for label, _, _, weight in rows:
        weights[label] = float(weight)
    best = max(range(len(classes)), key=weights.__getitem__)
    known = sum(weights) > 0.0
    return {
        "overall": rounded(state.overall.accuracy, state.overall.labels),
        "recent": rounded(state.recent.accuracy, state.recent.labels),
        "baseline": {"label": classes[best], "estimate": round(weights[best] / sum(weights), 6) if known else None},
        "answered": {"n": sum(int(row[1]) for row in rows), "right": sum(int(row[2]) for row in rows)},
    }


def _confusion(session: Session, state: State) -> dict[str, Any]:
    """Truth by prediction: over the audits, and over all labels."""
    shown = {state.place_of[label]: place for place, label in enumerate(state.config.classes)}

    def table(only: str) -> list[list[int]]:
        counts = [[0] * len(shown) for _ in shown]
        for truth, predicted, n in session.all(
            "SELECT a.label, e.predicted, count(*) FROM answers a JOIN events e ON e.seq = a.event "
            f"WHERE {VALID} {only} GROUP BY a.label, e.predicted"
        ):
            counts[shown[truth]][shown[predicted]] = int(n)
        return counts

    audits = f"AND EXISTS (SELECT 1 FROM asks q WHERE q.id = e.asked AND q.why = '{AUDIT}')"
    return {"labels": state.config.classes, "audit": table(audits), "all": table("")}


def _calibration(session: Session) -> list[dict[str, Any]]:
    """How often predictions made with some probability were right, by that probability, weighted to the stream."""
    sums = [[0.0, 0.0, 0.0, 0.0] for _ in range(10)]
    for probabilities, predicted, label, asked, probability in session.all(
        "SELECT e.probabilities, e.predicted, a.label, e.asked, e.probability FROM answers a "
        f"JOIN events e ON e.seq = a.event WHERE {VALID} ORDER BY a.seq DESC LIMIT ?",
        (RECENT,),
    ):
        chance = msgspec.json.decode(probabilities)[predicted]
        weight = 1.0 / probability if asked and probability > 0 else 1.0
        row = sums[min(9, int(10 * chance))]
        row[0] += 1
        row[1] += weight
        row[2] += weight * chance
        row[3] += weight * (predicted == label)
    return [
        {
            "from": place / 10,
            "to": (place + 1) / 10,
            "n": int(n),
            "predicted": round(predicted / weight, 4),
            "right": round(right / weight, 4),
        }
        for place, (n, weight, predicted, right) in enumerate(sums)
        if n
    ]


def _people(session: Session, now: float) -> list[dict[str, Any]]:
    rows = session.all(
        "SELECT annotator, sum(CASE WHEN kind <> 'skip' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN kind <> 'skip' AND created > ? THEN 1 ELSE 0 END), "
        "sum(CASE WHEN kind = 'skip' THEN 1 ELSE 0 END) "
        "FROM answers WHERE state <> 'undone' GROUP BY annotator ORDER BY 2 DESC LIMIT 100",
        (now - 3600,),
    )
    times: dict[str, list[int]] = {}
    for name, ms in session.all(
        "SELECT annotator, ms FROM answers WHERE ms IS NOT NULL ORDER BY seq DESC LIMIT ?", (RECENT,)
    ):
        times.setdefault(name, []).append(ms)
    agreement = _agreement(session)
    return [
        {
            "name": name,
            "labels": int(labels),
            "last_hour": int(recent),
            "median_seconds": round(median(times[name]) / 1000, 2) if name in times else None,
            "skips": int(skips),
            "agreement": agreement.get(name),
        }
        for name, labels, recent, skips in rows
    ]


def _agreement(session: Session) -> dict[str, float]:
    """The share of each annotator's recent answers that somebody else gave to the same event too."""
    rows = session.all(
        "SELECT a.annotator, sum(CASE WHEN a.label = b.label THEN 1 ELSE 0 END), count(*) FROM ("
        "SELECT event, annotator, label FROM answers "
        "WHERE label IS NOT NULL AND state IN ('waiting', 'learned', 'extra') ORDER BY seq DESC LIMIT ?) a "
        "JOIN answers b ON b.event = a.event AND b.annotator <> a.annotator "
        "AND b.label IS NOT NULL AND b.state IN ('waiting', 'learned', 'extra') GROUP BY a.annotator",
        (RECENT,),
    )
    return {name: round(int(same) / int(both), 4) for name, same, both in rows}


def drift(watch: Watch) -> dict[str, Any]:
    """Whether mistakes have become more frequent in the random sample, by the library's signal."""
    sampled, alarm = watch.drift.sampled, watch.alarm
    if alarm is not None and sampled - alarm["sampled"] < RECENT_AUDITS:
        detail = f"Mistakes in the random sample became clearly more frequent, {sampled - alarm['sampled']} labels ago."
        return {"level": "drift", "since": iso(alarm["received"]), "detail": detail}
    if sampled < TOO_FEW:
        return {"level": "none", "since": None, "detail": f"Fewer than {TOO_FEW} random labels; too early to tell."}
    detail = f"Watched by {sampled:,} labels of events taken at random; {watch.drift.alarms} alarms so far."
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
    for minute, row in minutes_after(session, first - 1, len(classes)):
        into = sums.get(minute // step * step if step > 1 else minute)
        if into is None:
            continue
        for name in (*COUNTED, "margin", "probability"):
            into[name] += row[name]
        into["open"] = row["open"] if row["open"] is not None else into["open"]
        for name in ("predicted", "labeled"):
            into[name] = [a + b for a, b in zip(into[name], row[name], strict=True)]
    return {
        "step": 60 * step,
        "from": iso(first * 60),
        "to": iso(now),
        "points": [_point(place, row, service.engine.state) for place, row in sums.items()],
        "by_label": [
            {"labels": labels, "estimate": round(value, 6), "low": round(low, 6), "high": round(high, 6)}
            for labels, value, low, high in service.engine.state.learner.watch.curve
        ],
    }


def _point(minute: int, row: dict[str, Any], state: State) -> dict[str, Any]:
    events = row["events"]
    return {
        "time": iso(minute * 60),
        **{name: row[name] for name in (*COUNTED, "open")},
        "predicted": by_class(state, row["predicted"]),
        "labeled": by_class(state, row["labeled"]),
        "mean_margin": round(row["margin"] / events, 4) if events else None,
        "mean_ask_probability": round(row["probability"] / events, 4) if events else None,
    }
