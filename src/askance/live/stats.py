"""The numbers behind every chart of the dashboard, read from the store and from the engine's counters."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec

import askance
from askance.live.clock import iso
from askance.live.estimate import share
from askance.live.queue import _next_budget
from askance.live.state import COUNTED, empty_counts
from askance.live.store.database import Session

if TYPE_CHECKING:
    from askance.live.service import Service

WINDOW = 200  # audit labels of the recent accuracy
RECENT = 5_000  # labels for calibration and delays
RECENT_MINUTES = 10
DRIFT_WINDOW = 50
POINTS = 200
VALID = "a.state IN ('waiting', 'learned') AND a.label IS NOT NULL"


def stats(session: Session, service: Service) -> dict[str, Any]:
    """Everything /v1/stats says."""
    engine, now = service.engine, service.clock.now()
    state = engine.state
    totals, classes = state.totals, state.classes
    minutes = _minutes(session, int(now // 60) - RECENT_MINUTES, len(classes))
    audit = _audit_rows(session)
    reasons = service.ready()
    today = _minutes(session, int(now // 86400) * 1440 - 1, len(classes))
    return {
        "time": iso(now),
        "title": service.config.title,
        "version": askance.__version__,
        "uptime": round(service.uptime(), 1),
        "classes": classes,
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
        },
        "queue": _queue(session, now),
        "budget": _budget(service, now),
        "labels": _labels(session, classes),
        "accuracy": _accuracy(session, audit, classes),
        "quality": state.quality,
        "classes_mix": {
            "predicted": dict(zip(classes, totals["predicted"], strict=True)),
            "recent": {
                label: sum(row["predicted"][place] for _, row in minutes) for place, label in enumerate(classes)
            },
        },
        "confusion": _confusion(session, classes),
        "calibration": _calibration(session),
        "drift": drift(audit),
        "people": _people(session, now),
        "latency_ms": service.metrics.latencies(),
    }


def _minutes(session: Session, after: int, n_classes: int) -> list[tuple[int, dict[str, Any]]]:
    rows = session.all("SELECT minute, document FROM minutes WHERE minute > ? ORDER BY minute", (after,))
    return [(int(minute), {**empty_counts(n_classes), **json.loads(document)}) for minute, document in rows]


def _audit_rows(session: Session) -> list[tuple[float, float, int]]:
    """(weight, right?, label) of every answered event of the random sample, in the order of the answers."""
    rows = session.all(
        "SELECT e.audit_probability, e.predicted, a.label FROM answers a JOIN events e ON e.seq = a.event "
        f"WHERE e.audit = 1 AND {VALID} ORDER BY a.seq"
    )
    return [(1.0 / chance, float(predicted == label), label) for chance, predicted, label in rows if chance > 0.0]


def _queue(session: Session, now: float) -> dict[str, Any]:
    counts: dict[str, int] = dict(session.all("SELECT state, count(*) FROM asks GROUP BY state"))
    ages = sorted(now - row[0] for row in session.all("SELECT created FROM asks WHERE state IN ('open', 'leased')"))
    found: dict[str, Any] = {
        name: int(counts.get(name, 0)) for name in ("open", "leased", "parked", "expired", "answered", "closed")
    }
    found["oldest_seconds"] = round(ages[-1], 1) if ages else None
    found["median_age_seconds"] = round(median(ages), 1) if ages else None
    return found


def _budget(service: Service, now: float) -> dict[str, Any]:
    state = service.engine.state
    asking, limits = state.learner.asking, service.config.asking
    hour = asking.hour_asked if asking.hour == int(now // 3600) else 0
    day = asking.day_asked if asking.day == int(now // 86400) else 0
    spent = (
        (limits.per_hour is not None and hour >= limits.per_hour)
        or (limits.per_day is not None and day >= limits.per_day)
        or (limits.total is not None and asking.asked >= limits.total)
    )
    again = _next_budget(state, now) if spent else None
    return {
        "hour": {"spent": hour, "limit": limits.per_hour},
        "day": {"spent": day, "limit": limits.per_day},
        "total": {"spent": asking.asked, "limit": limits.total},
        "exhausted": bool(spent),
        "next_at": iso(again) if again else None,
    }


def _labels(session: Session, classes: list[str]) -> dict[str, Any]:
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
    return {
        "total": sum(per_class.values()),
        "audit": int(
            session.value(
                f"SELECT count(*) FROM answers a JOIN events e ON e.seq = a.event WHERE e.audit = 1 AND {VALID}"
            )
        ),
        "per_class": {label: int(per_class.get(place, 0)) for place, label in enumerate(classes)},
        "extra": int(session.value("SELECT count(*) FROM answers WHERE state = 'extra'")),
        "skipped": {reason: int(skips.get(reason, 0)) for reason in ("unsure", "bad_data", "later")},
        "delay_seconds": {
            "median": round(median(delays), 2) if delays else None,
            "p90": round(delays[int(0.9 * len(delays))], 2) if delays else None,
        },
    }


def _accuracy(session: Session, audit: list[tuple[float, float, int]], classes: list[str]) -> dict[str, Any]:
    weights = [0.0] * len(classes)
    for weight, _, label in audit:
        weights[label] += weight
    best = max(range(len(classes)), key=weights.__getitem__)
    row = session.one(
        "SELECT count(*), sum(CASE WHEN e.predicted = a.label THEN 1 ELSE 0 END) FROM answers a "
        f"JOIN events e ON e.seq = a.event WHERE {VALID}"
    )
    return {
        "audit": share((weight, right) for weight, right, _ in audit),
        "window": share((weight, right) for weight, right, _ in audit[-WINDOW:]),
        "baseline": {
            "label": classes[best],
            "estimate": round(weights[best] / sum(weights), 6) if audit else None,
        },
        "answered": {"n": int(row[0]) if row else 0, "right": int(row[1] or 0) if row else 0},
    }


def _confusion(session: Session, classes: list[str]) -> dict[str, Any]:
    def table(only: str) -> list[list[int]]:
        counts = [[0] * len(classes) for _ in classes]
        for truth, predicted, n in session.all(
            "SELECT a.label, e.predicted, count(*) FROM answers a JOIN events e ON e.seq = a.event "
            f"WHERE {VALID} {only} GROUP BY a.label, e.predicted"
        ):
            counts[truth][predicted] = int(n)
        return counts

    return {"labels": classes, "audit": table("AND e.audit = 1"), "all": table("")}


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
    return [
        {
            "name": name,
            "labels": int(labels),
            "last_hour": int(recent),
            "median_seconds": round(median(times[name]) / 1000, 2) if name in times else None,
            "skips": int(skips),
            "agreement": None,
        }
        for name, labels, recent, skips in rows
    ]


def drift(audit: list[tuple[float, float, int]]) -> dict[str, Any]:
    """Whether the last audit labels were predicted clearly worse than those before: their intervals do not meet."""
    recent, before = audit[-DRIFT_WINDOW:], audit[:-DRIFT_WINDOW][-4 * DRIFT_WINDOW :]
    if len(recent) < DRIFT_WINDOW or len(before) < DRIFT_WINDOW:
        return {
            "level": "none",
            "since": None,
            "detail": f"Fewer than {2 * DRIFT_WINDOW} audit labels; too early to tell.",
        }
    now, then = share((w, r) for w, r, _ in recent), share((w, r) for w, r, _ in before)
    detail = (
        f"The last {len(recent)} audit labels: {now['estimate']:.0%} right; "
        f"the {len(before)} before: {then['estimate']:.0%}."
    )
    level = "drift" if now["high"] < then["low"] else "warning" if now["high"] < then["estimate"] else "none"
    return {"level": level, "since": None, "detail": detail}


def series(session: Session, service: Service, minutes: int, points: int) -> dict[str, Any]:
    """Counts over time, and the accuracy of the random sample over labels."""
    now = service.clock.now()
    classes = service.engine.state.classes
    step = max(1, -(-minutes // points))
    first = (int(now // 60) - minutes + 1) // step * step
    sums: dict[int, dict[str, Any]] = {
        place: empty_counts(len(classes)) for place in range(first, int(now // 60) + 1, step)
    }
    for minute, row in _minutes(session, first - 1, len(classes)):
        into = sums.get(minute // step * step if step > 1 else minute)
        if into is None:
            continue
        for name in (*COUNTED, "margin", "probability"):
            into[name] += row[name]
        for name in ("predicted", "labeled"):
            into[name] = [a + b for a, b in zip(into[name], row[name], strict=True)]
    return {
        "step": 60 * step,
        "from": iso(first * 60),
        "to": iso(now),
        "points": [_point(place, row, classes) for place, row in sums.items()],
        "by_label": _by_label(session),
    }


def _point(minute: int, row: dict[str, Any], classes: list[str]) -> dict[str, Any]:
    events = row["events"]
    return {
        "time": iso(minute * 60),
        **{name: row[name] for name in COUNTED},
        "predicted": dict(zip(classes, row["predicted"], strict=True)),
        "labeled": dict(zip(classes, row["labeled"], strict=True)),
        "mean_margin": round(row["margin"] / events, 4) if events else None,
        "mean_ask_probability": round(row["probability"] / events, 4) if events else None,
    }


def _by_label(session: Session) -> list[dict[str, Any]]:
    """The accuracy of the last audit labels, as labels came in."""
    rows = session.all(
        "SELECT e.audit, e.audit_probability, e.predicted, a.label FROM answers a "
        f"JOIN events e ON e.seq = a.event WHERE {VALID} ORDER BY a.seq"
    )
    audits: list[tuple[float, float]] = []
    places = []
    for labels, (audit, chance, predicted, label) in enumerate(rows, 1):
        if audit and chance > 0.0:
            audits.append((1.0 / chance, float(predicted == label)))
            places.append((len(audits), labels))
    step = max(1, -(-len(places) // POINTS))
    return [
        {**share(audits[max(0, n - WINDOW) : n]), "n": n, "labels": labels} for n, labels in places[step - 1 :: step]
    ]
