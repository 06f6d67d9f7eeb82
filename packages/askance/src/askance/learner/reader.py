"""What comes in, read for a classifier: raw values become checked sparse rows, and labels the indices of classes.

A classifier that begins with arrays stays with arrays. One that begins with raw events (tables, dicts, texts) keeps
their encoder (``data.encoding``), which learns new fields and categories as they come. Sparse matrices and pairs
(columns, values) have no names: into a model of named fields they go only where ``_takes_encoded_rows``, as those of
files do.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from askance.data.missing import MissingValues
from askance.errors import DataWarning, InvalidInput, InvalidParameter
from askance.learner.budget import Budget
from askance.learner.engine import NO_TIMES
from askance.learner.events import (
    Events,
    Preparation,
    is_pair,
    is_sparse,
    numbers,
    read_events,
    read_one,
    shorten,
    width_of_one,
)
from askance.learner.labels import MISSING, check_kinds, distinct_known_labels, distinct_labels, encode, select_known
from askance.learner.loop import Block
from askance.learner.state import room_for
from askance.plural import format_count

if TYPE_CHECKING:
    from askance.data.encoding.rows import RowFeatures
    from askance.data.encoding.table import RawEvents
    from askance.learner.classifier import StreamClassifier

NUMBERS = "fiub"  # kinds of arrays


class FirstBatches(NamedTuple):
    """The first batches of a stream, read before any of them is run: they say what its fields and classes are."""

    batches: list[tuple[Any, Any, Any]]
    """Events, raw ones opened, with their labels and times."""
    classes: np.ndarray | None
    """The labels of these batches, where the classifier names none."""
    raw: list[RawEvents]
    """The raw events that settled the kinds of fields; empty where those are known, or where there are none."""


class Reader:
    """Reads events and labels for one classifier, and has it begin or widen. If a check fails, nothing has changed.

    It keeps nothing itself: the encoder of raw events (``_features``), the number of features and their names are
    attributes of the classifier, where scikit-learn, pickles and copies look for them.
    """

    __slots__ = ("_clf",)

    def __init__(self, clf: StreamClassifier) -> None:
        self._clf = clf

    @property
    def began_raw(self) -> bool:
        """Whether the classifier began with raw events, whose encoder it keeps."""
        return "_features" in self._clf.__dict__

    @property
    def _features(self) -> RowFeatures:
        return self._clf._features

    def missing(self) -> MissingValues:
        """What stands for a missing value, in raw events and in labels."""
        return self._features.missing if self.began_raw else MissingValues(self._clf.na_values)

    def _fresh_features(self) -> RowFeatures:
        """The encoder of a model that has seen no event."""
        from askance.data.encoding.rows import RowFeatures

        return RowFeatures(self._clf.fields, na_values=self._clf.na_values)

    def has_time_field(self) -> bool:
        """Whether a field of raw events tells when they came."""
        if self.began_raw:
            return self._features.time_field is not None
        fields = self._clf.fields
        return fields is not None and "time" in fields.values() and not self._clf._has_begun

    def classes_so_far(self, classes: Any = None) -> Any:
        """The classes that are known, or that were named; None where the labels are to tell."""
        if self._clf._has_begun:
            return self._clf.classes_
        return self._clf.classes if classes is None else classes

    # --- many events -------------------------------------------------------------------------------------

    def read(self, X: Any, y: Any, classes: Any = None, may_be_unlabeled: bool = False) -> tuple[Events, np.ndarray]:
        """Events, and the class index of each label, MISSING where there is none."""
        X, y = as_several(self._dict_of_row(X), y)
        raw, label = self.raw_events(X), y
        if raw is not None and isinstance(y, str):
            y = raw.pop(y)
        y = self.missing().blank_labels(y, self.classes_so_far(classes))
        if raw is None:
            return self._read_numbers(X, y, classes, may_be_unlabeled)
        self.match_fields(raw)
        labels = self._check_labels(raw, y, classes)
        known, answers = self._answers(*labels, classes, may_be_unlabeled)
        is_first = not self.began_raw
        events = self.take_many(raw, known)
        self.remember_label(label)
        if is_first:
            self._warn_of_data([(raw, y)])
        return events, answers

    def _read_numbers(self, X: Any, y: Any, classes: Any, may_be_unlabeled: bool) -> tuple[Events, np.ndarray]:
        """``read`` for rows of numbers, which scikit-learn checks for an ``ActiveClassifier``."""
        is_first = not self._clf._has_begun
        had_names = hasattr(self._clf, "feature_names_in_")
        had_width = hasattr(self._clf, "n_features_in_")
        check_kinds(y, "y")
        n_events, n_labels = length_of(X), length_of(y)
        if n_events is not None and n_labels not in (None, n_events) and getattr(X, "ndim", 2) == 2:
            raise unequal_lengths(n_events, n_labels)
        labels, is_known = select_known(y, self.classes_so_far(classes))
        if not is_first and isinstance(X, list | tuple) and not X:  # which does not tell its width
            X = np.empty((0, self._clf.n_features_in_))
        try:
            if is_known is None:
                X, labels = self._clf._check_rows_and_labels(X, y, reset=is_first)
            else:
                X, labels = self._clf._check_rows(X, reset=is_first), np.asarray(labels)
            events = read_events(X)
            known, answers = self._answers(labels, is_known, classes, may_be_unlabeled)
            if is_first:
                self._clf._begin(known, X.shape[1])
        except BaseException:
            if is_first and not had_width and hasattr(self._clf, "n_features_in_"):
                del self._clf.n_features_in_
            if is_first and not had_names and hasattr(self._clf, "feature_names_in_"):
                del self._clf.feature_names_in_
            raise
        return events, answers

    def _answers(
        self, labels: np.ndarray, is_known: np.ndarray | None, classes: Any, may_be_unlabeled: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The classes, and the index among them of the label of each event, MISSING where there is none."""
        known = self._known_classes(labels, classes)
        answers = encode(labels, known)
        if is_known is not None:
            answers = _with_gaps(answers, is_known)
        if not may_be_unlabeled and (place := _first_missing(answers)) is not None:
            raise InvalidInput(
                f"the label y[{place}] is missing; leave such events out to learn from the others, or use run, "
                "which predicts them and goes on."
            )
        return known, answers

    def _known_classes(self, y: np.ndarray, classes: Any) -> np.ndarray:
        """The classes: those known already, else ``classes``, else the classifier's parameter, else those in ``y``."""
        if self._clf._has_begun:
            if classes is not None and not np.array_equal(distinct_labels(classes, "classes"), self._clf.classes_):
                known = self._clf.classes_.tolist()
                raise InvalidInput(f"classes={classes!r} differs from the classes at first, {known}.")
            return self._clf.classes_
        named = self.classes_so_far(classes)
        if named is not None:
            return distinct_labels(named, "classes")
        found = distinct_known_labels(y, "y")
        if not len(found):
            raise InvalidInput("y has no label that is known; name the classes with classes=.")
        is_continuous = y.dtype.kind == "f" and 2 * len(found) > len(y)  # few values that come back may be labels
        if is_continuous:
            from sklearn.utils.multiclass import check_classification_targets

            try:
                check_classification_targets(y)
            except ValueError:  # the first words are scikit-learn's
                raise InvalidInput(
                    f"Unknown label type: y has {len(found)} different numbers, such as {found[0]:.6g}, which look "
                    "like a quantity rather than classes; round them to few values, or pass other labels."
                ) from None
        return found

    def times(self, times: Any) -> np.ndarray:
        """The times of the events in seconds; empty if the budget reads none."""
        if not isinstance(self._clf.budget, Budget) or not self._clf.budget.reads_time:
            return NO_TIMES
        if times is None:
            raise InvalidInput(
                f"{self._clf.budget!r} needs the time of each event: run(X, y, times=...), ask(x, time=...), in "
                "seconds."
            )
        try:
            when = np.asarray(times)
            if when.dtype.kind == "b":
                raise TypeError
            if when.dtype.kind == "O" and when.ndim == 1:
                when = np.array([seconds_of(moment) for moment in when.tolist()])
            if when.dtype.kind == "M":  # dates, whatever their unit
                when = np.where(np.isnat(when), np.nan, when.astype("datetime64[us]").astype(np.float64) / 1e6)
            when = np.ascontiguousarray(when, np.float64)
        except (TypeError, ValueError):
            got = repr(times) if len(repr(times)) <= 80 else f"{repr(times)[:76]} ..."
            raise InvalidInput(f"the times of events are numbers of seconds, or datetimes, got {got}.") from None
        if when.ndim != 1:
            raise InvalidInput(f"the times of events are a flat list, one per event, got shape {when.shape}.")
        if not np.isfinite(when).all():
            place = int(np.flatnonzero(~np.isfinite(when))[0])
            raise InvalidInput(
                f"the time of event {place} is {when[place]}; each needs a finite number of seconds, or a datetime."
            )
        return when

    def raw_events(self, X: Any) -> RawEvents | None:
        """Several events, or one dict or text, if they are raw; None for rows of numbers, which go in as they are."""
        began_raw = self.began_raw
        if X.__class__ is np.ndarray and not began_raw and X.dtype.kind in NUMBERS:
            return None
        if is_sparse(X):
            self._check_takes_encoded_rows("a sparse matrix")
            return None
        from askance.data.encoding.table import is_one_event, is_raw, is_table, read_raw

        X = self._dict_of_row(X)
        if is_one_event(X):
            X = [X]
        if hasattr(X, "__next__"):
            raise InvalidInput("X is an iterator; pass a list of events, or, without y, an iterator of batches (X, y).")
        if isinstance(X, list | tuple) and not X:
            if not began_raw and not self._clf._has_begun:
                raise InvalidInput("X has no events.")
            return read_raw(X) if began_raw else None
        if is_raw(X):
            if began_raw or not self._clf._has_begun:
                return read_raw(X)
            if not is_table(X):
                raise InvalidInput(
                    f"this classifier began with arrays of {self._clf.n_features_in_} features; it cannot go on with "
                    "events that have named fields."
                )
        return self._named_rows(X) if began_raw else None

    def _dict_of_row(self, X: Any) -> Any:
        """A row of a pandas table (``df.iloc[0]``) that has fields of this model, as a dict; anything else as it is."""
        from askance.data.encoding.table import is_row

        if self.began_raw and is_row(X) and any(name in self._features.kinds for name in X.index):
            return X.to_dict()
        return X

    def _named_rows(self, X: Any) -> RawEvents:
        """The rows of an array, by the columns of the first table."""
        from askance.data.encoding.table import TableEvents

        if np.ndim(X) == 0:
            raise InvalidInput(f"X is {shorten(X)}; pass events, as a table, a list of dicts or a list of texts.")
        names = self._column_names()
        if not names:
            raise InvalidInput(
                "this classifier began with events that have named fields; pass such events, a table or dicts, instead "
                "of an array."
            )
        other = next((name for name, kind in self._clf.fields_.items() if kind != "number"), None)
        if other is not None:
            raise InvalidInput(
                f"the field {other!r} of this classifier is no number but a {self._clf.fields_[other]}; pass a table "
                "or dicts instead of an array."
            )
        if hasattr(self._clf, "feature_names_in_"):
            self._clf._check_names(X, reset=False)  # warns
        elif hasattr(X, "columns"):  # a frame, whose columns have numbers as these fields have
            return TableEvents({str(name): np.array(X[name], np.float64) for name in X.columns})
        array = numbers(X)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise InvalidInput(f"X has shape {array.shape}, but the first events had {len(names)} columns.")
        return TableEvents(dict(zip(names, array.T.astype(np.float64), strict=True)))

    def _column_names(self) -> list[str]:
        """The names of an array's columns: those of the first table, or their numbers, if the first events came from a
        file that has no names for them. Empty if nobody knows."""
        if hasattr(self._clf, "feature_names_in_"):
            return list(self._clf.feature_names_in_.tolist())
        names = list(self._features.kinds)
        return sorted(names, key=int) if all(map(str.isdecimal, names)) else []

    def _check_takes_encoded_rows(self, what: str) -> None:
        """Refuse rows that no encoder has seen, where a model needs it."""
        if self.began_raw and not self._clf._takes_encoded_rows:
            from askance.data.encoding.kinds import format_names

            known = self._features.kinds
            instead = "X.toarray()" if self._column_names() and {*known.values()} == {"number"} else "a table or dicts"
            raise InvalidInput(
                f"this classifier's events have the fields {format_names(known)}, whose values it scales or hashes, "
                f"and {what} has no names for them; pass {instead}."
            )

    def remember_label(self, label: Any) -> None:
        """Keep the name of the field that holds the label, if it was given, for events that bring it along."""
        if isinstance(label, str) and label not in self._features.kinds:
            self._features.label = label

    def match_fields(self, raw: RawEvents) -> None:
        """Leave the label's field out, and put the columns of a table into the order of the first one, by name; refuse
        a table that has others."""
        label = self._features.label if self.began_raw else None
        if label is not None:
            raw.leave_out(label)
        if raw.names is None or not self.began_raw:
            return
        if not hasattr(self._clf, "feature_names_in_"):
            self._compare_columns(raw)
            return
        known = self._clf.feature_names_in_.tolist()
        missing = [name for name in known if name not in raw.names]
        unknown = [name for name in raw.names if name not in known]
        if missing or unknown:
            raise _other_columns(missing, unknown)
        raw.arrange(known)

    def _compare_columns(self, raw: RawEvents) -> None:
        """Compare a table with the fields of a model that began with a file, or with dicts: warn of columns that it
        lacks, such as renamed ones, and refuse it if it has none of them."""
        from askance.data.encoding.kinds import IGNORE, IGNORED_NAMES, format_names

        self._check_any_is_known(raw)
        kinds, names = self._features.kinds, raw.names or ()
        top = {name: name.split(".")[0] if name not in names else name for name in kinds}
        missing = [name for name, kind in kinds.items() if kind != IGNORE and top[name] not in names]
        unknown = [name for name in names if name not in top.values() and name not in IGNORED_NAMES]
        if missing:
            brings = f", and has {format_names(unknown)}, which the model does not know" if unknown else ""
            warnings.warn(
                f"X has no column {format_names(missing)}, which the model has learned from{brings}; was it renamed?",
                DataWarning,
                stacklevel=frames_of_ours(),
            )

    def _check_labels(self, raw: RawEvents, y: Any, classes: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """The labels of raw events that are known, and which events have them; None where all do."""
        check_kinds(y, "y")
        if y is None:
            raise InvalidInput("y is missing; pass a label for each event, or the name of the column that holds them.")
        shape: tuple[int, ...] = getattr(y, "shape", None) or ()
        if len(shape) > 1 and shape[1] > 1:
            raise InvalidInput(f"y has shape {shape}; each event has one label, or y is the name of a column.")
        n_labels = length_of(y) if length_of(y) is not None else len(np.asarray(y))
        if n_labels != raw.n_events:
            raise unequal_lengths(raw.n_events, n_labels)
        if not raw.n_events and not self.began_raw:
            raise InvalidInput("X has no events.")
        labels, is_known = select_known(y, self.classes_so_far(classes))
        if is_known is None:
            return self._clf._check_label_array(labels), None
        return np.asarray(labels), is_known

    def take_many(self, raw: RawEvents, classes: np.ndarray) -> Events:
        """Encode events, and begin or make room for them. If that fails, nothing has changed."""
        from askance.data.encoding.columns import encode, reopen_kinds, settle_kinds
        from askance.data.encoding.rows import RowFeatures

        kept = self._features.to_dict() if self.began_raw else None
        if self._clf._has_begun:
            self._clf._ready()  # refuses what cannot work before anything changes
        try:
            features = self._features if kept is not None else self._fresh_features()
            if kept is None:
                self._check_named_fields(raw)
                settle_kinds(features, [raw])
            X, times = encode(features, raw)
            if not features.encoder.width:
                raise _nothing_to_learn(features)
            self._make_room(features, classes)
        except BaseException:
            if kept is not None:
                self._clf._features = RowFeatures.from_dict(kept, self._features.encoder.embeddings)
            raise
        if kept is None:
            reopen_kinds(features, [raw])
            self._clf._features = features
            self._keep_names(raw)
        events = read_events(self._as_wide_as_the_model(X))
        events.times = times
        return events

    def _check_named_fields(self, raw: RawEvents) -> None:
        """Refuse kinds for columns that the first table does not have, such as a misspelt one."""
        if raw.names is None:
            return
        for name in self._clf.fields or ():
            if name not in raw.names and name.split(".")[0] not in raw.names:
                from askance.data.encoding.kinds import format_names

                raise InvalidParameter(f"fields names {name!r}, but the columns of X are {format_names(raw.names)}.")

    def _keep_names(self, raw: RawEvents) -> None:
        """Remember the columns of the first table, as scikit-learn's estimators do."""
        if raw.names is not None and raw.has_names:
            self._clf.feature_names_in_ = np.array(raw.names, dtype=object)

    def _make_room(self, features: RowFeatures, classes: np.ndarray) -> None:
        """Begin, or widen the model to the columns that the fields have by now."""
        width = max(1, features.encoder.width)
        if not self._clf._has_begun:
            self._clf._begin(classes, max(width, self._clf.n_features or 0))
        elif self._clf.n_features_in_ < width:
            self._clf.widen(room_for(width))

    def _as_wide_as_the_model(self, X: Any) -> Any:
        """Encoded events with as many columns as the model has."""
        from askance.data.encoding.assemble import csr

        return csr(X.indptr, X.indices, X.data, self._clf.n_features_in_)

    # --- the first batches of a stream -------------------------------------------------------------------

    def read_first(self, batches: Iterator[list[Any]]) -> FirstBatches:
        """The first batches of a new stream, by which the kinds of fields are settled; none where those are known."""
        from askance.data.encoding.kinds import SAMPLE_ROWS

        held: list[tuple[Any, Any, Any]] = []
        first: list[RawEvents] = []
        n_events, label = 0, None
        while not self._clf._has_begun and n_events < SAMPLE_ROWS and (batch := next(batches, None)) is not None:
            X, y, times = batch
            if length_of(X) == 0:
                continue
            raw = self.raw_events(X)
            if raw is not None:
                if isinstance(y, str):
                    label, y = y, raw.pop(y)
                first.append(raw)
            y = self.missing().blank_labels(y, self._clf.classes)
            held.append((X if raw is None else raw, y, times))
            n_events += length_of(y) or 0
        classes = _labels_of(held) if held and self._clf.classes is None else None
        if self.began_raw or not first:
            return FirstBatches(held, classes, [])
        self._settle_kinds(first)
        self.remember_label(label)
        return FirstBatches(held, classes, first)

    def _settle_kinds(self, parts: Sequence[RawEvents]) -> None:
        """Settle what the fields are by the first batches, before any of them is run."""
        from askance.data.encoding.columns import settle_kinds

        features = self._fresh_features()
        settle_kinds(features, parts)
        self._clf._features = features
        self._keep_names(parts[0])

    def unsettle(self) -> None:
        """Forget the fields that ``read_first`` settled: none of the batches was run."""
        for name in ("_features", "feature_names_in_"):
            self._clf.__dict__.pop(name, None)

    def end_first(self, first: FirstBatches) -> None:
        """The first batches were run: kinds may change from now on, and what looks wrong in them is said."""
        from askance.data.encoding.columns import reopen_kinds

        reopen_kinds(self._features, first.raw)
        self._warn_of_data([(X, y) for X, y, _ in first.batches if X in first.raw])

    def _warn_of_data(self, parts: Sequence[tuple[RawEvents, Any]]) -> None:
        """Say what looks wrong in the first events, before anybody trusts what is learned from them."""
        from askance.data.encoding.data_warnings import MOST_FIELDS, FirstEvents, find_warnings
        from askance.data.encoding.kinds import SAMPLE_ROWS

        rows: list[dict[str, Any]] = []
        labels: list[Any] = []
        for raw, y in parts:
            labels += np.asarray(y, object)[: SAMPLE_ROWS - len(rows)].tolist()
            rows += raw.rows(SAMPLE_ROWS - len(rows))
        kinds = dict(list(self._clf.fields_.items())[:MOST_FIELDS])
        missing = self.missing()
        first = FirstEvents(
            kinds=kinds,
            values={name: [row.get(name) for row in rows] for name in kinds},
            labels=labels,
            missing=missing,
            missing_labels=missing.covers,
            giving=lambda name, kind: f'fields={{{name!r}: "{kind}"}}',
        )
        for sentence in [*self._fields_never_seen(), *find_warnings(first)]:
            warnings.warn(sentence, DataWarning, stacklevel=frames_of_ours())

    def _fields_never_seen(self) -> Iterator[str]:
        """The fields that got a kind and that no event has had, such as misspelt ones; a sentence about each."""
        from askance.data.encoding.kinds import format_names

        known = self._features.kinds
        for name, kind in (self._clf.fields or {}).items():
            if kind != "ignore" and not any(field == name or field.startswith(f"{name}.") for field in known):
                yield (
                    f"fields names {name!r}, which none of the first events has; is it misspelt? They have "
                    f"{format_names(known)}."
                )

    # --- one event ---------------------------------------------------------------------------------------

    def _one_event(self, x: Any) -> Block:
        """A row of numbers of any form; begins if it is the first."""
        if not self._clf._has_begun:
            self._begin_with_one(x)
        if hasattr(x, "columns"):  # a row of a table with names
            self._clf._check_names(x, reset=False)
        return self._block_of(x)

    def _begin_with_one(self, x: Any) -> None:
        classes = self._clf._classes_for_one()
        n_features = self._clf.n_features or width_of_one(x)
        read_one(x, n_features, Preparation(normalise=False, intercept=-1))
        self._clf._begin(classes, n_features)
        if hasattr(x, "columns"):
            self._clf._check_names(x, reset=True)

    def _raw_event(self, x: Any) -> dict[str, Any] | None:
        """The fields of one event, if it is a raw one; None for a row of numbers, which goes in as it is."""
        began_raw = self.began_raw
        if is_sparse(x) or (x.__class__ is tuple and is_pair(x)):
            self._check_takes_encoded_rows("a sparse event")
            return None
        if x.__class__ in (tuple, np.ndarray) and not began_raw:
            return None
        from askance.data.encoding.table import is_raw_event, is_row, is_table, read_event, read_raw

        if is_raw_event(x) or (is_row(x) and (began_raw or x.dtype == object)):
            if began_raw or not self._clf._has_begun:
                if is_table(x):
                    x = read_raw(x)
                    self.match_fields(x)
                row = read_event(x)
                if began_raw and self._features.label is not None:
                    row.pop(self._features.label, None)
                return row
            if not is_table(x) and not is_row(x):
                raise InvalidInput(
                    f"this classifier began with arrays of {self._clf.n_features_in_} features; it cannot go on with "
                    "an event that has named fields."
                )
        if not began_raw:
            return None
        names = self._column_names()
        if not names and hasattr(x, "_asdict"):  # a named tuple
            return read_event(x._asdict())
        values = np.ravel(np.asarray(x, dtype=object)).tolist()
        if not names:
            raise InvalidInput(
                f"this classifier's events have named fields; pass one event, as a dict or a text, got {shorten(x)}."
            )
        if len(values) != len(names):
            raise InvalidInput(
                "this classifier's events have named fields; pass a dict, or the values of the first events' "
                f"{len(names)} columns, got {shorten(x)}."
            )
        return read_event(dict(zip(names, values, strict=True)))

    def read_new(self, x: Any, time: float | datetime | None) -> tuple[Block, np.ndarray]:
        """An event that comes now, and its time; begins if it is the first."""
        row = self._raw_event(x)
        if row is None:
            when = self.times(None if time is None else [time])
            return self._one_event(x), when
        return self._take_row(row, x, time)

    def _take_row(self, row: Mapping[str, Any], x: Any, time: float | datetime | None) -> tuple[Block, np.ndarray]:
        """``read_new`` for a raw event: its fields are learned."""
        from askance.data.encoding.encoder import Cells

        classes = self._clf._classes_for_one()
        features = self._features if self.began_raw else self._fresh_features()
        if self._clf._has_begun:
            self._clf._ready()  # refuses what cannot work before anything changes
        plan = features.plan(row)
        if plan.error is not None:
            features.mismatches.add(plan.mismatches)
            raise InvalidInput(str(plan.error))
        when = self.times([plan.time if time is None else time] if (time, plan.time) != (None, None) else None)
        cells = Cells()
        features.take(cells, plan)
        self._make_room(features, classes)
        if not self.began_raw:
            self._clf._features = features
            if hasattr(x, "columns"):
                self._clf._check_names(x, reset=True)
        _, columns, values = features.encoder.rows(cells)
        return self._block_of((columns, values)), when

    def read_again(self, x: Any) -> Block:
        """An event that came before, such as when it was asked: nothing is learned of its fields."""
        row = self._raw_event(x)
        if row is None:
            return self._one_event(x)
        if not self.began_raw:
            raise InvalidInput(
                "tell answers an event that was asked; to learn from events with labels, use partial_fit or run."
            )
        return self._block_of(self._transform_one(row, self._features.encoder.scaling.as_known))

    def _block_of(self, x: Any) -> Block:
        """A checked and prepared row of numbers."""
        engine = self._clf._ready()
        return read_one(x, engine.n_features, engine.compiled.preparation)

    def _transform_one(self, row: Mapping[str, Any], scale: Any) -> tuple[np.ndarray, np.ndarray]:
        """The columns of an event and their values; fields and statistics stay as they are."""
        try:
            return self._features.transform_row(row, scale)
        except ValueError as error:
            raise InvalidInput(str(error)) from None

    def _check_any_is_known(self, raw: RawEvents) -> None:
        """Refuse a table of which the model knows no column, and texts without a field for them; warn of dicts, whose
        fields may differ: all of it would be left out."""
        from askance.data.encoding.kinds import format_names
        from askance.data.encoding.table import TEXT_FIELD

        known = self._features.kinds
        if raw.are_texts and TEXT_FIELD not in known:
            raise InvalidInput(f"X has texts, but the events of the model have the fields {format_names(known)}.")
        tops = {*known, *(field.split(".")[0] for field in known)}
        if not raw.n_events or any(name in tops for name in raw.top_names()):
            return
        names = dict.fromkeys(raw.top_names())
        sentence = f"{format_names(names)}, none of which is a field of the model; it knows {format_names(known)}."
        if raw.names is not None:
            raise InvalidInput(f"X has the columns {sentence}")
        if names:
            warnings.warn(f"X has the fields {sentence}", DataWarning, stacklevel=frames_of_ours())

    # --- events that are only looked at ------------------------------------------------------------------

    def read_unlabeled(self, X: Any) -> Events:
        """Several events that are only predicted."""
        raw = self.raw_events(X)
        if raw is None:
            return read_events(self._clf._check_rows(X, reset=False))
        from askance.data.encoding.columns import transform

        self.match_fields(raw)
        self._check_any_is_known(raw)
        return read_events(self._as_wide_as_the_model(transform(self._features, raw)))

    def effects(self, x: Any, label: int | None) -> list[tuple[Any, float]]:
        """The fields and words, or the columns, of one event, and how much each speaks for a class: the predicted one
        unless it is given by its index."""
        from askance.data.encoding.assemble import csr
        from askance.data.encoding.explain import effects, name_effects, towards

        row, engine = self._raw_event(x), self._clf._ready()
        preparation = engine.compiled.preparation._replace(intercept=-1)
        event = x if row is None else self._transform_one(row, self._features.encoder.scaling.as_next)
        starts, columns, values = read_one(event, engine.n_features, preparation)
        columns, values = columns[: starts[1]].astype(np.int32), values[: starts[1]]
        if label is None:
            label = int(engine.scores_of(read_events(csr(starts, columns, values, engine.n_features)))[0][0])
        weights = towards(self._clf._coefficients(), label)
        if row is not None:
            length = float(np.linalg.norm(event[1])) if preparation.normalise else 1.0
            found = effects(self._features, row, weights)
            return [(name, push / (length or 1.0)) for name, push in name_effects(found)]
        names = getattr(self._clf, "feature_names_in_", range(engine.n_features))
        return [(names[column], float(push)) for column, push in zip(columns, weights[columns] * values, strict=True)]


def _with_gaps(answers: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    """The answers of all events, MISSING where the label is not known."""
    everywhere = np.full(len(is_known), MISSING, np.int32)
    everywhere[is_known] = answers
    return everywhere


def _first_missing(answers: np.ndarray) -> int | None:
    missing = answers == MISSING
    return int(missing.argmax()) if missing.any() else None


def seconds_of(moment: Any) -> float:
    """Unix seconds of a datetime, in UTC unless it has a time zone, or of a number of seconds."""
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment)


def unequal_lengths(n_events: int, n_labels: int | None) -> InvalidInput:
    """The error for more labels than events, or fewer."""
    sizes = f"{format_count(n_events, 'event')} and y has {format_count(n_labels or 0, 'label')}"
    return InvalidInput(f"X has {sizes}; each event needs one.")


def length_of(rows: Any) -> int | None:
    """The number of rows, or None if that is not known before they are read."""
    shape = getattr(rows, "shape", ())
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    return len(rows) if isinstance(rows, list | tuple) else None


def as_several(X: Any, y: Any) -> tuple[Any, Any]:
    """One raw event and its label, or the name of the field that has it, as a list of one; others as they are."""
    from askance.data.encoding.table import is_one_event

    if not is_one_event(X):
        return X, y
    if y is None or np.ndim(y) or (isinstance(y, str) and isinstance(X, Mapping) and y in X):
        return [X], y
    return [X], [y]


def _other_columns(missing: Sequence[str], unknown: Sequence[str]) -> InvalidInput:
    from askance.data.encoding.kinds import format_names

    lacks = f"has no column {format_names(missing)}, which the first table had" if missing else ""
    brings = f"has the column {format_names(unknown)}, which the first table had not" if unknown else ""
    return InvalidInput(
        f"X {', and '.join(filter(None, (lacks, brings)))}; give it the columns of the first table, in any order, or "
        "pass dicts, whose fields may differ."
    )


def _nothing_to_learn(features: RowFeatures) -> InvalidInput:
    from askance.data.encoding.kinds import format_names

    ignored = list(features.kinds)
    if not ignored:
        return InvalidInput("the events of X have no fields, so that there is nothing to learn from.")
    return InvalidInput(
        f"X has no field to learn from: {format_names(ignored)} {'is' if len(ignored) == 1 else 'are'} ignored, as a "
        "field is that is called id, is empty in all of the first events, or was said to be; say what a field is, such "
        f"as fields={{{ignored[0]!r}: 'category'}}."
    )


def _labels_of(batches: Sequence[tuple[Any, Any, Any]]) -> np.ndarray:
    """The different labels in some batches of a stream."""
    labels = [label for _, y, _ in batches for label in np.asarray(y, dtype=object).tolist()]
    return distinct_known_labels(select_known(labels, None)[0], "y")


def frames_of_ours() -> int:
    """How far up whoever called us is, as ``warnings.warn`` counts from the caller of this."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("askance."):
        frame, level = frame.f_back, level + 1
    return level
