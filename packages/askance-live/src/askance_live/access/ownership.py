"""Whose question, whose word: what comes of a request about something that is somebody else's. For docs/http.md."""

from __future__ import annotations

from collections.abc import Sequence

QUESTIONS = [
    ("question 17 is", "Ana's token", "answer", "skip", "renew", "release"),
    (
        "in Ana's hands",
        "of this delivery, or an earlier one",
        "trains",
        "counts",
        "holds on to it (earlier: 409 `stale_token`)",
        "gives it back (earlier: `stale`)",
    ),
    (
        "in nobody's hands, and Ana had it last",
        "of her lease that ran out",
        "trains",
        "counts",
        "hers again",
        "`stale`",
    ),
    ("in nobody's hands, or parked", "any other", "trains", "counts", "409 `stale_token`", "`stale`"),
    (
        "in Ben's hands",
        "of a delivery before his: it passed on to him",
        "`extra`",
        "*unsure* and *later* count for her, *bad data* is `extra`; he keeps it",
        "409 `stale_token`",
        "`stale`",
    ),
    ("in Ben's hands", "any other", "409 `leased`", "409 `leased`", "409 `stale_token`", "409 `leased`"),
    ("answered, closed or expired", "any", "`extra`", "`extra`", "409 `stale_token`", "`stale`"),
]
WORDS = [
    ("to take back or replace", "one's own", "somebody else's"),
    (
        "an answer: `undo`",
        "one of one's last 50; the question comes back to oneself",
        "`review`, any; the question goes back into the queue",
    ),
    ("an answer: `supersedes`", "yes", "`review`, else 403"),
    ('a label: `"replace": true`, whether it came from `/v1/labels` or was an answer', "yes", "`review`, else 403"),
    ('*bad data*: `undo`, or a label with `"replace": true`', "yes", "`review`, else 403"),
]


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + " --- |" * len(rows[0]), *rest]


def as_markdown() -> list[str]:
    """The lines of the chapter."""
    return [
        "## Whose question, whose word",
        "",
        "A question is in somebody's hands from `next` until they answer, skip or give it back, or until their lease "
        "runs out. The token says which delivery a request is about: `17.2` is the second of question 17. What comes "
        "of a request of Ana's:",
        "",
        *_table(QUESTIONS),
        "",
        "The scope `review` changes nothing here. A label (`/v1/labels`) is about the event, not the question: the "
        "first counts, whoever has the question then, and their answer is kept as `extra`.",
        "",
        *_table(WORDS),
        "",
        "Both kinds, a question closed as bad data, and a label for a question in somebody else's hands are in "
        "`/v1/audit`, with who, what was said `before`, and what holds `after`. A plain answer, label or skip changes "
        "nobody's word: `/v1/answers?mine=0` and exports have those, with names.",
    ]
