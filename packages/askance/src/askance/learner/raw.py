"""Raw events for the classifier: tables, dictionaries and texts become rows by an encoder that is part of the model.

A classifier that begins with arrays stays with arrays, one that begins with raw events keeps their encoder
(``data.encoding``), which learns new fields and categories as they come. Sparse matrices and pairs (columns, values)
have no names: into a model of named fields they go only where ``_takes_encoded_rows``, as those of files do.
"""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from askance.data.missing import MissingValues
from askance.errors import DataWarning, InvalidInput, InvalidParameter
from askance.learner.base import BaseActiveClassifier, length_of, not_fitted_yet, unequal_lengths
from askance.learner.compiled import CompiledLearner
from askance.learner.events import Events, is_sparse, numbers, read_events, shorten
from askance.learner.labels import check_kinds, select_known
from askance.learner.loop import Block
from askance.learner.one_event import is_pair, read_one
from askance.learner.state import room_for

if TYPE_CHECKING:
    from askance.data.encoding.rows import RowFeatures
    from askance.data.encoding.table import RawEvents

NUMBERS = "fiub"  # kinds of arrays


class RawActiveClassifier(BaseActiveClassifier):
    """Turns raw events into the rows that the loop plays; arrays go past it."""

    _takes_encoded_rows: ClassVar[bool] = True
    """Whether a model of named fields takes sparse rows, which then were encoded by a copy of its encoder."""
    _features: RowFeatures

    @property
    def fields_(self) -> dict[str, str]:
        """The fields of raw events, each with its kind: number, category, text, date, ignore or time."""
        if not hasattr(self, "_features"):
            raise AttributeError("fields_ exists once the classifier has seen events with named fields.")
        return dict(self._features.kinds)

    def _check_rules(self) -> None:
        """Raise if the parameters cannot work, before the first event."""
        super()._check_rules()
        if self.fields is not None:
            from askance.data.encoding.embedding import split_embeddings
            from askance.data.encoding.kinds import check_features

            if not isinstance(self.fields, Mapping):
                raise InvalidParameter(
                    f'fields maps names to kinds, such as {{"zip": "category"}}, got {self.fields!r}.'
                )
            check_features(split_embeddings(self.fields)[0])
        MissingValues(self.na_values)

    def _missing(self) -> MissingValues:
        """What stands for a missing value, in raw events and in labels."""
        return self._features.missing if hasattr(self, "_features") else MissingValues(self.na_values)

    def _fresh_features(self) -> RowFeatures:
        """The encoder of a model that has seen no event."""
        from askance.data.encoding.rows import RowFeatures

        return RowFeatures(self.fields, na_values=self.na_values)

    def _has_time_field(self) -> bool:
        """Whether a field of raw events tells when they came."""
        if hasattr(self, "_features"):
            return self._features.time_field is not None
        return self.fields is not None and "time" in self.fields.values() and not hasattr(self, "_state")

    # --- many events -------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any, classes: Any = None, may_be_unlabeled: bool = False) -> tuple[Events, np.ndarray]:
        X, y = as_several(self._dict_of_row(X), y)
        raw, label = self._raw_events(X), y
        if raw is not None and isinstance(y, str):
            y = raw.pop(y)
        y = self._missing().blank_labels(y, getattr(self, "classes_", self.classes if classes is None else classes))
        if raw is None:
            return super()._read(X, y, classes, may_be_unlabeled)
        self._match_fields(raw)
        labels = self._check_labels(raw, y, classes)
        known, answers = self._answers(*labels, classes, may_be_unlabeled)
        is_first = not hasattr(self, "_features")
        events = self._take_many(raw, known)
        self._remember_label(label)
        if is_first:
            self._warn_of_data([(raw, y)])
        return events, answers

    def _raw_events(self, X: Any) -> RawEvents | None:
        """Several events, or one dict or text, if they are raw; None for rows of numbers, which go in as they are."""
        began_raw = hasattr(self, "_features")
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
            if not began_raw and not hasattr(self, "_state"):
                raise InvalidInput("X has no events.")
            return read_raw(X) if began_raw else None
        if is_raw(X):
            if began_raw or not hasattr(self, "_state"):
                return read_raw(X)
            if not is_table(X):
                raise InvalidInput(
                    f"this classifier began with arrays of {self.n_features_in_} features; it cannot go on with events "
                    "that have named fields."
                )
        return self._named_rows(X) if began_raw else None

    def _dict_of_row(self, X: Any) -> Any:
        """A row of a pandas table (``df.iloc[0]``) that has fields of this model, as a dict; anything else as it is."""
        from askance.data.encoding.table import is_row

        if hasattr(self, "_features") and is_row(X) and any(name in self._features.kinds for name in X.index):
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
        other = next((name for name, kind in self.fields_.items() if kind != "number"), None)
        if other is not None:
            raise InvalidInput(
                f"the field {other!r} of this classifier is no number but a {self.fields_[other]}; pass a table or "
                "dicts instead of an array."
            )
        if hasattr(self, "feature_names_in_"):
            self._check_names(X, reset=False)  # warns
        elif hasattr(X, "columns"):  # a frame, whose columns have numbers as these fields have
            return TableEvents({str(name): np.array(X[name], np.float64) for name in X.columns})
        array = numbers(X)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise InvalidInput(f"X has shape {array.shape}, but the first events had {len(names)} columns.")
        return TableEvents(dict(zip(names, array.T.astype(np.float64), strict=True)))

    def _column_names(self) -> list[str]:
        """The names of an array's columns: those of the first table, or their numbers, if the first events came from a
        file that has no names for them. Empty if nobody knows."""
        if hasattr(self, "feature_names_in_"):
            return list(self.feature_names_in_.tolist())
        names = list(self._features.kinds)
        return sorted(names, key=int) if all(map(str.isdecimal, names)) else []

    def _check_takes_encoded_rows(self, what: str) -> None:
        """Refuse rows that no encoder has seen, where a model needs it."""
        if hasattr(self, "_features") and not self._takes_encoded_rows:
            from askance.data.encoding.kinds import format_names

            known = self._features.kinds
            instead = "X.toarray()" if self._column_names() and {*known.values()} == {"number"} else "a table or dicts"
            raise InvalidInput(
                f"this classifier's events have the fields {format_names(known)}, whose values it scales or hashes, "
                f"and {what} has no names for them; pass {instead}."
            )

    def _remember_label(self, label: Any) -> None:
        """Keep the name of the field that holds the label, if it was given, for events that bring it along."""
        if isinstance(label, str) and label not in self._features.kinds:
            self._features.label = label

    def _match_fields(self, raw: RawEvents) -> None:
        """Leave the label's field out, and put the columns of a table into the order of the first one, by name; refuse
        a table that has others."""
        label = self._features.label if hasattr(self, "_features") else None
        if label is not None:
            raw.leave_out(label)
        if raw.names is None or not hasattr(self, "_features"):
            return
        if not hasattr(self, "feature_names_in_"):
            self._compare_columns(raw)
            return
        known = self.feature_names_in_.tolist()
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
        if not raw.n_events and not hasattr(self, "_features"):
            raise InvalidInput("X has no events.")
        labels, is_known = select_known(y, getattr(self, "classes_", self.classes if classes is None else classes))
        if is_known is None:
            return self._check_label_array(labels), None
        return np.asarray(labels), is_known

    def _take_many(self, raw: RawEvents, classes: np.ndarray) -> Events:
        """Encode events, and begin or make room for them. If that fails, nothing has changed."""
        from askance.data.encoding.columns import encode, reopen_kinds, settle_kinds
        from askance.data.encoding.rows import RowFeatures

        kept = self._features.to_dict() if hasattr(self, "_features") else None
        if hasattr(self, "_state"):
            self._compiled_learner()  # refuses what cannot work before anything changes
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
                self._features = RowFeatures.from_dict(kept, self._features.encoder.embeddings)
            raise
        if kept is None:
            reopen_kinds(features, [raw])
            self._features = features
            self._keep_names(raw)
        events = read_events(self._as_wide_as_the_model(X))
        events.times = times
        return events

    def _check_named_fields(self, raw: RawEvents) -> None:
        """Refuse kinds for columns that the first table does not have, such as a misspelt one."""
        if raw.names is None:
            return
        for name in self.fields or ():
            if name not in raw.names and name.split(".")[0] not in raw.names:
                from askance.data.encoding.kinds import format_names

                raise InvalidParameter(f"fields names {name!r}, but the columns of X are {format_names(raw.names)}.")

    def _keep_names(self, raw: RawEvents) -> None:
        """Remember the columns of the first table, as scikit-learn's estimators do."""
        if raw.names is not None and raw.has_names:
            self.feature_names_in_ = np.array(raw.names, dtype=object)

    def _make_room(self, features: RowFeatures, classes: np.ndarray) -> None:
        """Begin, or widen the model to the columns that the fields have by now."""
        width = max(1, features.encoder.width)
        if not hasattr(self, "_state"):
            self._begin(classes, max(width, self.n_features or 0))
        elif self.n_features_in_ < width:
            self.widen(room_for(width))

    @abstractmethod
    def widen(self, n_features: int) -> Self:
        """Add features, of which nothing has been learned yet."""

    def _as_wide_as_the_model(self, X: Any) -> Any:
        """Encoded events with as many columns as the model has."""
        from askance.data.encoding.assemble import csr

        return csr(X.indptr, X.indices, X.data, self.n_features_in_)

    def _settle_kinds(self, parts: Sequence[RawEvents]) -> None:
        """Settle what the fields are by the first pieces of a stream, before any of them is played."""
        from askance.data.encoding.columns import settle_kinds

        features = self._fresh_features()
        settle_kinds(features, parts)
        self._features = features
        self._keep_names(parts[0])

    def _warn_of_data(self, parts: Sequence[tuple[RawEvents, Any]]) -> None:
        """Say what looks wrong in the first events, before anybody trusts what is learned from them."""
        from askance.data.encoding.data_warnings import MOST_FIELDS, FirstEvents, find_warnings
        from askance.data.encoding.kinds import SAMPLE_ROWS

        rows: list[dict[str, Any]] = []
        labels: list[Any] = []
        for raw, y in parts:
            labels += np.asarray(y, object)[: SAMPLE_ROWS - len(rows)].tolist()
            rows += raw.rows(SAMPLE_ROWS - len(rows))
        kinds = dict(list(self.fields_.items())[:MOST_FIELDS])
        missing = self._missing()
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
        for name, kind in (self.fields or {}).items():
            if kind != "ignore" and not any(field == name or field.startswith(f"{name}.") for field in known):
                yield (
                    f"fields names {name!r}, which none of the first events has; is it misspelt? They have "
                    f"{format_names(known)}."
                )

    # --- one event ---------------------------------------------------------------------------------------

    def _raw_event(self, x: Any) -> dict[str, Any] | None:
        """The fields of one event, if it is a raw one; None for a row of numbers, which goes in as it is."""
        began_raw = hasattr(self, "_features")
        if is_sparse(x) or (x.__class__ is tuple and is_pair(x)):
            self._check_takes_encoded_rows("a sparse event")
            return None
        if x.__class__ in (tuple, np.ndarray) and not began_raw:
            return None
        from askance.data.encoding.table import is_raw_event, is_row, is_table, read_event, read_raw

        if is_raw_event(x) or (is_row(x) and (began_raw or x.dtype == object)):
            if began_raw or not hasattr(self, "_state"):
                if is_table(x):
                    x = read_raw(x)
                    self._match_fields(x)
                row = read_event(x)
                if began_raw and self._features.label is not None:
                    row.pop(self._features.label, None)
                return row
            if not is_table(x) and not is_row(x):
                raise InvalidInput(
                    f"this classifier began with arrays of {self.n_features_in_} features; it cannot go on with an "
                    "event that has named fields."
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

    def _take_event(
        self, row: Mapping[str, Any], x: Any, time: float | datetime | None
    ) -> tuple[CompiledLearner, Block, Any]:
        """Encode an event that comes now: the classifier, its row, and its time."""
        from askance.data.encoding.encoder import Cells

        classes = self._classes_for_one()
        features = self._features if hasattr(self, "_features") else self._fresh_features()
        if hasattr(self, "_state"):
            self._compiled_learner()  # refuses what cannot work before anything changes
        plan = features.plan(row)
        if plan.error is not None:
            features.mismatches.add(plan.mismatches)
            raise InvalidInput(str(plan.error))
        when = self._times([plan.time if time is None else time] if (time, plan.time) != (None, None) else None)
        cells = Cells()
        features.take(cells, plan)
        self._make_room(features, classes)
        if not hasattr(self, "_features"):
            self._features = features
            if hasattr(x, "columns"):
                self._check_names(x, reset=True)
        _, columns, values = features.encoder.rows(cells)
        compiled = self._compiled_learner()
        return compiled, read_one((columns, values), self.n_features_in_, compiled.preparation), when

    def _answered_event(self, row: Mapping[str, Any]) -> tuple[CompiledLearner, Block]:
        """Encode an event that was taken in before, when it was asked."""
        if not hasattr(self, "_features"):
            raise InvalidInput(
                "tell answers an event that was asked; to learn from events with labels, use partial_fit or run."
            )
        compiled = self._compiled_learner()
        scaling = self._features.encoder.scaling
        columns, values = self._transform_one(row, scaling.as_known)
        return compiled, read_one((columns, values), self.n_features_in_, compiled.preparation)

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

    # --- what is read out --------------------------------------------------------------------------------

    def _predict_scores(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        if not hasattr(self, "_state"):
            raise not_fitted_yet()
        raw = self._raw_events(X)
        if raw is None:
            return super()._predict_scores(X)
        from askance.data.encoding.columns import transform

        self._match_fields(raw)
        self._check_any_is_known(raw)
        return self._scores_of(read_events(self._as_wide_as_the_model(transform(self._features, raw))))

    def _effects(self, x: Any, label: int | None) -> list[tuple[Any, float]]:
        """The fields and words, or the columns, of one event, and how much each speaks for a class."""
        from askance.data.encoding.assemble import csr
        from askance.data.encoding.explain import effects, name_effects, towards

        row, preparation = self._raw_event(x), self._compiled_learner().preparation._replace(intercept=-1)
        event = x if row is None else self._transform_one(row, self._features.encoder.scaling.as_next)
        starts, columns, values = read_one(event, self.n_features_in_, preparation)
        columns, values = columns[: starts[1]].astype(np.int32), values[: starts[1]]
        if label is None:
            label = int(self._scores_of(read_events(csr(starts, columns, values, self.n_features_in_)))[0][0])
        weights = towards(self._coefficients(), label)
        if row is not None:
            length = float(np.linalg.norm(event[1])) if preparation.normalise else 1.0
            found = effects(self._features, row, weights)
            return [(name, push / (length or 1.0)) for name, push in name_effects(found)]
        names = self.feature_names_in_ if hasattr(self, "feature_names_in_") else range(self.n_features_in_)
        return [(names[column], float(push)) for column, push in zip(columns, weights[columns] * values, strict=True)]


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


def frames_of_ours() -> int:
    """How far up whoever called us is, as ``warnings.warn`` counts from the caller of this."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("askance."):
        frame, level = frame.f_back, level + 1
    return level
