"""Models in files: safe to load, checked, versioned.

A model file is one line of JSON, the header, followed by a NumPy ``.npz`` archive without pickled objects. The header
names the format and its version, and holds the archive's length and SHA-256, so that a file cut short or altered is
recognised before anything in it is used. The archive holds the arrays of the model and, as JSON text, everything
else: rules and their parameters, classes, counts, and where the random numbers stand. Loading runs no code from the
file: rules are looked up by name among those this process already knows.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import askance
from askance.beside import beside
from askance.errors import InvalidInput, ModelFileError
from askance.learner.budget import Budget
from askance.learner.labels import distinct_labels
from askance.learner.rule import Parameterised, QueryRule, UpdateRule
from askance.learner.state import SAVED
from askance.learner.tickets import Tickets

if TYPE_CHECKING:
    from askance.learner.classifier import ActiveClassifier

FORMAT = "askance model"
VERSION = 4
LONGEST_HEADER = 1000


def save(clf: ActiveClassifier, path: str | os.PathLike[str], **beside_it: np.ndarray) -> None:
    """Write a classifier to a file, whole or not at all, with whatever arrays are to be kept beside it."""
    arrays: dict[str, Any] = {**beside_it}
    document: dict[str, Any] = {
        "askance": askance.__version__,
        "parameters": {name: _describe(value) for name, value in clf.get_params(deep=False).items()},
    }
    if hasattr(clf, "_state"):
        budget = clf._rules().budget  # which may be another than at the last event
        arrays |= {name: getattr(clf._state, name) for name in SAVED}
        arrays |= {"counts": clf._account.counts, "account": clf._account_for(budget, budget.terms())}
        arrays |= clf._tickets.arrays()
        document["learned"] = {
            "classes": _describe(clf.classes_),
            "n_features": clf.n_features_in_,
            "feature_names": list(clf.feature_names_in_) if hasattr(clf, "feature_names_in_") else None,
            "random": _plain(clf._rng.bit_generator.state),
        }
    content = io.BytesIO()
    np.savez(content, document=np.frombuffer(json.dumps(document).encode(), np.uint8), **arrays)
    body = content.getbuffer()
    header = {"format": FORMAT, "version": VERSION, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    _write(Path(path), json.dumps(header).encode() + b"\n", body)


def load(path: str | os.PathLike[str]) -> ActiveClassifier:
    """Read a classifier that ``save`` wrote. It goes on exactly where the saved one stood.

    Rules of your own must be imported before a model that uses them is loaded.
    """
    return read(path)[0]


def read(path: str | os.PathLike[str]) -> tuple[ActiveClassifier, dict[str, np.ndarray]]:
    """The classifier of a file, and all arrays that are kept there."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot read the model {str(path)!r}: {error.strerror}.") from None
    body = _checked_body(path, content)
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        document = json.loads(arrays.pop("document").tobytes())
        return _restore(document, arrays), arrays
    except ModelFileError as error:
        raise ModelFileError(f"{str(path)!r}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise ModelFileError(f"{str(path)!r} is not a model this version can read ({error}).") from None


# --- the file --------------------------------------------------------------------------------------------


def _write(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file; a crash leaves the old one or the new one."""
    try:
        with beside(path) as name, open(name, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ModelFileError(f"cannot write the model {str(path)!r}: {error.strerror or error}.") from None


def _checked_body(path: Path, content: bytes) -> memoryview:
    """The archive, once header, length and checksum agree."""
    end = content.find(b"\n", 0, LONGEST_HEADER)
    try:
        header = json.loads(content[:end]) if end > 0 else {}
    except ValueError:
        header = {}
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{str(path)!r} is not an askance model.")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise ModelFileError(f"{str(path)!r} is not an askance model: it is of format {version!r}.")
    if version < VERSION:
        raise ModelFileError(
            f"{str(path)!r} was written by an earlier askance (format {version}; this one reads {VERSION}), which kept "
            "other accounts of its budget; train it again."
        )
    if version > VERSION:
        raise ModelFileError(
            f"{str(path)!r} was written by a newer askance (format {version}; this one reads {VERSION}); "
            "upgrade askance to load it."
        )
    body = memoryview(content)[end + 1 :]
    if len(body) != header.get("bytes"):
        raise ModelFileError(
            f"{str(path)!r} is cut short or overlong, {len(body)} bytes of content where {header.get('bytes')} belong; "
            "copy it again or restore a backup."
        )
    if hashlib.sha256(body).hexdigest() != header.get("sha256"):
        raise ModelFileError(
            f"{str(path)!r} is damaged: its checksum does not match; copy it again or restore a backup."
        )
    return body


def _restore(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> ActiveClassifier:
    from askance.learner.classifier import ActiveClassifier

    clf = ActiveClassifier(**{name: _revive(value) for name, value in document["parameters"].items()})
    learned = document.get("learned")
    if learned is None:
        return clf
    clf._begin(np.asarray(_revive(learned["classes"])), learned["n_features"])
    for name in SAVED:
        target = getattr(clf._state, name)
        if target.shape != arrays[name].shape:
            raise ModelFileError(f"the array {name} has shape {arrays[name].shape} where {target.shape} belongs.")
        target[...] = arrays[name]
    clf._account.counts[...] = arrays["counts"]
    clf._account.budget[...] = arrays["account"]
    clf._tickets = Tickets.of(arrays)
    if learned["feature_names"] is not None:
        clf.feature_names_in_ = np.array(learned["feature_names"], dtype=object)
    clf._rng = _generator(learned["random"])
    return clf


# --- values as JSON --------------------------------------------------------------------------------------


def _describe(value: Any) -> Any:
    """A parameter as JSON: plain values as they are, the others as an object that names their kind."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return {"kind": "array", "dtype": value.dtype.str, "values": [value.item()], "scalar": True}
    if isinstance(value, Parameterised):
        parameters = {name: _describe(item) for name, item in value.get_params(deep=False).items()}
        module = type(value).__module__
        home = None if module.startswith("askance.") else module  # ours may move between modules
        return {"kind": "rule", "name": type(value).__name__, "module": home, "parameters": parameters}
    if isinstance(value, np.random.Generator):
        return {"kind": "generator", "state": _plain(value.bit_generator.state)}
    if isinstance(value, np.random.RandomState | np.random.SeedSequence | np.random.BitGenerator):
        raise InvalidInput(
            f"a model whose random_state is a {type(value).__name__} cannot be saved; use an int or a Generator."
        )
    array = distinct_labels(value, "classes") if isinstance(value, set | frozenset) else np.asarray(value)
    if array.dtype.kind in "iufbU":
        return {"kind": "array", "dtype": array.dtype.str, "values": array.tolist()}
    labels = array.tolist()
    if array.ndim == 1 and all(isinstance(label, bool | int | float | str) for label in labels):
        return {"kind": "array", "dtype": "O", "values": labels}
    raise InvalidInput(f"{value!r} cannot be saved: labels must be numbers, strings or booleans.")


def _revive(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value["kind"] == "array":
        array = np.array(value["values"], dtype=np.dtype(value["dtype"]))
        return array[0] if value.get("scalar") else array
    if value["kind"] == "generator":
        return _generator(value["state"])
    if value["kind"] == "rule":
        parameters = {name: _revive(item) for name, item in value["parameters"].items()}
        return _known_rule(value["name"], value["module"])(**parameters)
    raise ModelFileError(f"it holds a value of an unknown kind, {value['kind']!r}.")


def _known_rule(name: str, module: str | None) -> type[Parameterised]:
    """The rule class of this name among those that are imported: ours, or that of the module named."""
    import askance.learner.auto  # noqa: F401  (ours all are, then)

    waiting: list[type[Parameterised]] = [UpdateRule, QueryRule, Budget]
    while waiting:
        rule = waiting.pop()
        is_ours = rule.__module__.startswith("askance.")
        if rule.__name__ == name and (is_ours if module is None else rule.__module__ == module):
            return rule
        waiting.extend(rule.__subclasses__())
    home = f" of the module {module!r}" if module else ""
    raise ModelFileError(
        f"it uses the rule {name!r}{home}, which is not known here; import the module that defines it."
    )


def _plain(state: Any) -> Any:
    """A bit generator's state as JSON."""
    if isinstance(state, dict):
        return {key: _plain(value) for key, value in state.items()}
    if isinstance(state, np.ndarray):
        return {"values": state.tolist(), "dtype": state.dtype.str}
    return state.item() if isinstance(state, np.generic) else state


BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def _generator(state: dict[str, Any]) -> np.random.Generator:
    if state["bit_generator"] not in BIT_GENERATORS:
        raise ModelFileError(f"its random numbers come from an unknown generator, {state['bit_generator']!r}.")
    bit_generator = getattr(np.random, state["bit_generator"])(0)
    bit_generator.state = _unplain(state)
    return np.random.Generator(bit_generator)


def _unplain(state: Any) -> Any:
    if isinstance(state, dict):
        if set(state) == {"values", "dtype"}:
            return np.array(state["values"], dtype=np.dtype(state["dtype"]))
        return {key: _unplain(value) for key, value in state.items()}
    return state
