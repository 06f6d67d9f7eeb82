"""Label Studio: our events as its tasks, its tasks as our events, and what its requests to a model are answered.

Its formats are described at labelstud.io/guide/export and labelstud.io/guide/ml_create. A task has the fields of the
event as its data, beside them, as ``askance``, the event as a text to show; and in its meta the event's id and time, by
which it is the same event when it comes back.

Its annotations are labels of our events: given, changed and deleted under a number of that tool's. A deletion tells the
number and nothing else. So each state of an annotation is an answer with an id of its own, in
which the length of the source's name tells where that ends,

    label::annotation:6:SOURCE:31.1    as it was made
    label::annotation:6:SOURCE:31.2    as it was changed

and the last one is what holds. An answer of another author under such an id is no state of the annotation. Up to
askance 0.2 the ids were ``label:annotation-SOURCE-31.1``, which two sources could share: of those, too, each has its
own. Every function runs inside a transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from xml.sax.saxutils import quoteattr

from askance_live.engine.label_space import LabelSpace
from askance_live.engine.state import EngineState
from askance_live.exchange.export import chance_of, text_of
from askance_live.problems import Problem
from askance_live.questions.answers import undo
from askance_live.questions.corrections import BY_ID, EarlierAnswer, event_name, held_of_others
from askance_live.questions.labels import give_label
from askance_live.questions.states import KEPT, AnswerOutcome
from askance_live.questions.submissions import BY_EVENT
from askance_live.store.database import Session

SHOWN = "askance"
CHOICES, TEXT = "label", "event"
"""What the tags are called in the labeling configuration that we suggest."""
_TAG = re.compile(r"<Choices\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(name|toName)\s*=\s*["']([^"']*)["']""")


def as_task(item: dict[str, Any], labels: LabelSpace) -> dict[str, Any]:
    """An event of an export as a task, with the prediction and the label; a set of which only a part is known, which no
    annotation can say, is left out."""
    prediction, answer = item["prediction"], item["answer"]
    annotations = []
    if item["label"] is not None and not isinstance(item["label"], dict):
        annotations.append({
            "result": [as_result(item["label"])], "was_cancelled": False, "ground_truth": False,
            "created_username": answer["annotator"], "created_at": answer["created"],
        })  # fmt: skip
    return {
        "id": item["seq"],
        "data": {**item["fields"], SHOWN: text_of(item["fields"])},
        "meta": {"askance": {"id": item["id"], "time": item["time"]}},
        "annotations": annotations,
        "predictions": [as_prediction(prediction["label"], chance_of(prediction, labels), prediction["model"])],
    }


def as_result(label: str | list[str], choices: str = CHOICES, text: str = TEXT) -> dict[str, Any]:
    """A label, or a set of them, as one of the results that annotations and predictions have."""
    chosen = [label] if isinstance(label, str) else label
    return {"from_name": choices, "to_name": text, "type": "choices", "value": {"choices": chosen}}


def as_prediction(
    label: str | list[str], score: float, version: int, tags: tuple[str, str] = (CHOICES, TEXT)
) -> dict[str, Any]:
    """A suggestion; Label Studio can ask about those with the lowest score first. ``tags_of`` gives the ``tags``."""
    return {"result": [as_result(label, *tags)], "score": score, "model_version": f"askance-{version}"}


def tags_of(config: str) -> tuple[str, str]:
    """The names of the choices and of what they are about, in a labeling configuration.

    >>> tags_of('<View><Text name="t" value="$text"/><Choices name="kind" toName="t"></Choices></View>')
    ('kind', 't')
    """
    found = _TAG.search(config)
    end = config.find(">", found.end()) if found else -1
    names = dict(_ATTRIBUTE.findall(config, found.end(), end)) if found and end >= 0 else {}
    return names.get("name", CHOICES), names.get("toName", TEXT)


def labeling_config(classes: list[str], title: str, are_sets: bool = False) -> str:
    """A labeling configuration for the tasks that we write."""
    choice = "multiple" if are_sets else "single"
    choices = "\n".join(f"    <Choice value={quoteattr(label)}/>" for label in classes)
    return (
        f'<View>\n  <Header value={quoteattr(title)}/>\n  <Text name="{TEXT}" value="${SHOWN}"/>\n'
        f'  <Choices name="{CHOICES}" toName="{TEXT}" choice="{choice}" showInLine="true">\n{choices}\n'
        "  </Choices>\n</View>\n"
    )


# --- the other way -------------------------------------------------------------------------------------------

_OF_TASKS = {"annotations", "completions", "predictions"}
_OF_BARE_TASKS = {"id", "data", "meta"}


def is_task(value: dict[str, Any]) -> bool:
    """Whether an object is a task of Label Studio, annotated or not, rather than one with a field called data."""
    return (
        isinstance(value.get("data"), dict)
        and not isinstance(value.get("fields"), dict)
        and (not _OF_TASKS.isdisjoint(value) or value.keys() <= _OF_BARE_TASKS)
    )


def as_event(task: dict[str, Any]) -> dict[str, Any]:
    """A task as an event: its data, and the choice of the first of its annotations that was not cancelled; for label
    sets, all choices."""
    data, meta, number = task.get("data"), task.get("meta"), task.get("id")
    known = meta.get("askance") if isinstance(meta, dict) else None
    ours = known if isinstance(known, dict) else {}
    made = f"task-{number}" if number is not None else None
    fields = {name: value for name, value in data.items() if name != SHOWN} if isinstance(data, dict) else {}
    given = task.get("annotations") or task.get("completions")
    first = next(filter(None, (set_of([one]) for one in (given if isinstance(given, list) else []))), [])
    return {
        "id": ours.get("id", made),
        "fields": fields,
        "time": ours.get("time"),
        "label": one_of_them(first) if first else None,
        "label_set": set_of(given),
    }


def one_of_them(chosen: list[str]) -> str | list[str]:
    """The choice of an annotation, for a stream whose events have one class: several are left as they are, since none
    of them is the class."""
    return chosen[0] if len(set(chosen)) == 1 else chosen


def set_of(annotations: Any) -> list[str] | None:
    """All choices of annotations that were not cancelled, for a stream of label sets: none where what was chosen is
    nothing, None where nobody chose."""
    given = list(_chosen(annotations))
    return [choice for choices in given for choice in choices] if given else None


def _chosen(annotations: Any) -> Iterator[list[str]]:
    """The choices of each result that has some, or an empty list of them."""
    for annotation in annotations if isinstance(annotations, list) else []:
        is_valid = isinstance(annotation, dict) and annotation.get("was_cancelled") is not True
        results = annotation.get("result") if is_valid else None
        for result in results if isinstance(results, list) else []:
            value = result.get("value") if isinstance(result, dict) else None
            given = value.get("choices") if isinstance(value, dict) else None
            if isinstance(given, list):
                chosen = [choice for choice in given if isinstance(choice, str)]
                if chosen or not given:
                    yield chosen


# --- annotations as labels -----------------------------------------------------------------------------


LONGEST_NUMBER = 40
MOST_SHARED = 100  # states of ids of 0.2, which two sources could share, that are looked through for one's own


def read_number(annotation: dict[str, Any]) -> str | None:
    """The number of an annotation; None where it has none."""
    number = annotation.get("id")
    is_one = isinstance(number, int | str) and not isinstance(number, bool)
    text = str(number) if is_one else ""
    return text if 0 < len(text) <= LONGEST_NUMBER and text.isprintable() else None


def _read_states(session: Session, source: str, number: str) -> tuple[EarlierAnswer | None, str]:
    """What was said last with an annotation of this source, and the id of what it says next."""
    earlier, current = f"annotation-{source}-{number}", f":annotation:{len(source)}:{source}:{number}"
    states = _count_states(session, current)
    identifier = f"{BY_EVENT}{current}.{states + 1}"
    newest = BY_ID.one(session, (f"{BY_EVENT}{current}.{states}",))
    if newest is None or newest.annotator != source:
        shared = (f"{BY_EVENT}{earlier}.{place}" for place in range(_count_states(session, earlier), 0, -1))
        found = (BY_ID.one(session, (name,)) for name in islice(shared, MOST_SHARED))
        newest = next((answer for answer in found if answer is not None and answer.annotator == source), None)
    return newest, identifier


def _count_states(session: Session, name: str) -> int:
    """How many states of an annotation are stored: looked up at every power of two, then in between."""
    least, most = 0, 1  # there are ``least`` or more, and less than ``most`` once that is missing

    def is_there(place: int) -> bool:
        return BY_ID.one(session, (f"{BY_EVENT}{name}.{place}",)) is not None

    while is_there(most):
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if is_there(middle) else (least, middle)
    return least


def annotate(
    session: Session, state: EngineState, source: str, number: str | None, event: str, place: int, may_review: bool
) -> str:
    """An annotation was made or changed; what became of it."""
    identifier = None
    if number is not None:
        newest, identifier = _read_states(session, source, number)
        is_same = newest is not None and newest.label == place and newest.state in KEPT
        if newest is not None and is_same and event_name(session, newest.event) == event:
            return AnswerOutcome.ACCEPTED  # told once more
    given = give_label(session, state, source, event, place, identifier, True, may_review, is_made_here=True)
    return str(given["outcome"])


def withdraw(session: Session, state: EngineState, source: str, numbers: list[str]) -> int:
    """Annotations were deleted: their labels are taken back, where they still hold; how many these were."""
    taken = 0
    for number in numbers:
        newest, _ = _read_states(session, source, number)
        if newest is None or newest.state not in KEPT:
            continue
        if not held_of_others(session, state, newest, source):
            try:
                undo(session, state, source, newest.id, may_review=True, takes_question=False)
            except Problem:
                continue  # somebody has said something else since
            taken += 1
    return taken
