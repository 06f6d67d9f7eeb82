"""Models in files: safe to load, checked, versioned.

A model file is one line of JSON, the header, followed by a NumPy ``.npz`` archive without pickled objects. The header
names the format and its version, and holds the archive's length and SHA-256, so that a file cut short or altered is
recognised before anything in it is used. The archive holds the arrays of the model and, as JSON text, everything
else: rules and their parameters, classes, counts, the encoder of raw events, and where the random numbers stand.
Loading runs no code from the file: rules are looked up by name among those this process already knows.

This is the only container of models. ``askance run`` and ``askance pipe`` put what they know of their stream into one
more array (``runner.model``), and a pipeline its transformers into several (``learner.pipeline``). A checkpoint of the
service is a document of the service's own followed by a model file as it is (``askance_live.engine.checkpoints``), for
its size must be bounded by that document before the model is decompressed.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import askance
from askance.atomic import atomic_write
from askance.data.encoding.embedding import EMBEDDING, Embedding, match_encoders
from askance.errors import DataWarning, InvalidInput, ModelFileError
from askance.learner.budget import Budget
from askance.learner.classifier import StreamClassifier, parameters_of
from askance.learner.labels import distinct_labels
from askance.learner.model_fields import MODEL_FIELDS, VERSION
from askance.learner.rule import Parameterised, QueryRule, UpdateRule
from askance.learner.state import SAVED
from askance.learner.upgrades import OLDEST, upgrade

if TYPE_CHECKING:
    from askance.learner.estimator import ActiveClassifier

Classifier = TypeVar("Classifier", bound=StreamClassifier)

FORMAT = "askance model"
PIPELINE = "pipeline"
"""The array that says which transformers stand before the classifier, if any do."""
LABEL_SETS = "label_sets"
"""The array that only a file of a ``MultiLabelClassifier`` has."""
LONGEST_HEADER = 1000
MOST_BYTES_OF_LABELS = 100_000_000


def save(clf: StreamClassifier, path: str | os.PathLike[str], **more: np.ndarray) -> None:
    """Write a classifier to a file, whole or not at all, with more arrays that are to be kept with it."""
    _write(Path(path), *_parts(clf, more))


def to_bytes(clf: StreamClassifier, **more: np.ndarray) -> bytes:
    """What ``save`` writes, with more arrays that are to be kept with it; equal models give equal bytes."""
    return b"".join(_parts(clf, more))


def _parts(clf: StreamClassifier, more: Mapping[str, np.ndarray]) -> tuple[bytes, memoryview]:
    """The header and the archive."""
    arrays: dict[str, Any] = {**more}
    document: dict[str, Any] = {
        "askance": askance.__version__,
        "parameters": {name: describe(value) for name, value in parameters_of(clf).items()},
    }
    if clf._has_begun:
        engine, rules = clf._engine, clf._rules()
        arrays |= {name: getattr(engine.state, name) for name in SAVED}
        for field in MODEL_FIELDS:
            arrays |= field.to_arrays(engine, rules)
        document["learned"] = {
            "classes": describe(clf.classes_),
            "n_features": clf.n_features_in_,
            "feature_names": list(clf.feature_names_in_) if hasattr(clf, "feature_names_in_") else None,
            "random": _plain(engine.rng.bit_generator.state),
        }
    if hasattr(clf, "_features"):
        document["encoder"] = _plain_encoder(clf._features.to_dict())
    content = io.BytesIO()
    np.savez(content, document=np.frombuffer(json.dumps(document).encode(), np.uint8), **arrays)
    body = content.getbuffer()
    header = {"format": FORMAT, "version": VERSION, "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(header).encode() + b"\n", body


def load(path: str | os.PathLike[str], *, encoders: Mapping[str, Any] | None = None) -> ActiveClassifier:
    """Read a classifier that ``save`` wrote. It goes on exactly where the saved one stood.

    Rules of your own must be imported before a model that uses them is loaded. ``encoders`` has the encoder of each
    field that is embedded (``askance.Embedding``), by name: no file holds them.
    """
    from askance.learner.estimator import ActiveClassifier

    clf, arrays = read(path, ActiveClassifier, encoders)
    if PIPELINE in arrays:
        raise ModelFileError(f"{str(path)!r} holds a pipeline; load it with askance.load_pipeline.")
    _warn_of_scaling(path, arrays)
    return clf


def _warn_of_scaling(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray]) -> None:
    """Warn of a model of numbered features that were scaled as they were read, which nobody does for an array."""
    if "stream" not in arrays:
        return
    try:
        how = json.loads(arrays["stream"].tobytes())["stream"].get("how", "as it is")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(f"{str(path)!r} is not a model this version can read ({error}).") from None
    if how != "as it is":
        done = "standardised" if how == "standardised" else "brought to unit length"
        warnings.warn(
            f"{str(path)!r} is a model of features that askance run {done} as it read them; arrays are taken as they "
            "are: use 'askance predict', or pass features that are scaled in the same way.",
            DataWarning,
            stacklevel=3,
        )


def read(
    path: str | os.PathLike[str], kind: type[Classifier], encoders: Mapping[str, Any] | None = None
) -> tuple[Classifier, dict[str, np.ndarray]]:
    """The classifier of a file, and all arrays that are kept there."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot read the model {str(path)!r}: {error.strerror}.") from None
    return from_bytes(content, str(path), kind, encoders)


def from_bytes(
    content: bytes, name: str, kind: type[Classifier], encoders: Mapping[str, Any] | None = None
) -> tuple[Classifier, dict[str, np.ndarray]]:
    """The classifier of what ``save`` wrote, and all arrays there; errors call it by its name."""
    version, body = _check_body(name, content)
    try:
        arrays = _arrays(body)
        document = json.loads(arrays.pop("document").tobytes())
        upgrade(version, document, arrays)
        if kind._is_for_label_sets != (LABEL_SETS in arrays):
            raise _other_kind(kind._is_for_label_sets)
        return _restore(version, document, arrays, kind, encoders), arrays
    except ModelFileError as error:
        raise ModelFileError(f"{name!r}: {error}") from None
    except MemoryError:
        raise ModelFileError(f"{name!r} is a model that does not fit into the memory of this machine.") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, EOFError, zipfile.BadZipFile) as error:
        raise ModelFileError(f"{name!r} is not a model this version can read ({error}).") from None


def holds_label_sets(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a model of label sets; False also if it cannot be read, which reading it explains."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{LABEL_SETS}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _other_kind(wants_label_sets: bool) -> ModelFileError:
    if wants_label_sets:
        return ModelFileError("it is no model of label sets; askance.load reads it.")
    return ModelFileError("it is a model of label sets; read it with askance.MultiLabelClassifier.load.")


# --- the file --------------------------------------------------------------------------------------------


def _write(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file; a crash leaves the old one or the new one."""
    if path.is_dir():
        raise ModelFileError(f"{str(path)!r} is a folder; name a file to write to.")
    try:
        with atomic_write(path) as name, open(name, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ModelFileError(f"cannot write the model {str(path)!r}: {error.strerror or error}.") from None


def _check_body(name: str, content: bytes) -> tuple[int, memoryview]:
    """The format and the archive, once header, length and checksum agree."""
    end = content.find(b"\n", 0, LONGEST_HEADER)
    try:
        header = json.loads(content[:end]) if end > 0 else {}
    except ValueError:
        header = {}
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{name!r} is not an askance model, as clf.save and askance run --save write it.")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise ModelFileError(f"{name!r} is not an askance model: it is of format {version!r}.")
    if version < OLDEST:
        raise ModelFileError(
            f"{name!r} was written before askance 0.1 (format {version}; this one reads {OLDEST} to {VERSION}); "
            "train it again."
        )
    if version > VERSION:
        raise ModelFileError(
            f"{name!r} was written by a newer askance (format {version}; this one reads {OLDEST} to {VERSION}); "
            "upgrade askance to load it."
        )
    body = memoryview(content)[end + 1 :]
    if len(body) != header.get("bytes"):
        raise ModelFileError(
            f"{name!r} is cut short or overlong, {len(body)} bytes of content where {header.get('bytes')} belong; "
            "copy it again or restore a backup."
        )
    if hashlib.sha256(body).hexdigest() != header.get("sha256"):
        raise ModelFileError(f"{name!r} is damaged: its checksum does not match; copy it again or restore a backup.")
    return version, body


def _arrays(body: memoryview) -> dict[str, np.ndarray]:
    """The arrays of an archive, which take no more memory than the archive itself: nothing in it is compressed, no two
    of them share bytes, and each is as long as its shape says."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ModelFileError("its arrays are compressed, which those of a model never are.")
        if sum(entry.file_size for entry in entries) > len(body):
            raise ModelFileError("its arrays are said to be longer than the file.")
        return {entry.filename.removesuffix(".npy"): _array(archive.read(entry)) for entry in entries}


def _array(content: bytes) -> np.ndarray:
    """One array in NumPy's own format."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = read_header(file)
    length = len(content) - file.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != length:
        raise ModelFileError(f"an array of shape {shape} and type {dtype} has {length:,} bytes.")
    array = np.frombuffer(content, dtype, offset=file.tell())
    return array.reshape(shape, order="F" if is_fortran else "C").copy()


def _check_width(clf: StreamClassifier, classes: np.ndarray, n_features: int, arrays: dict[str, np.ndarray]) -> None:
    """Refuse a width that the arrays do not have, before there is room made for it."""
    table = arrays["table"]
    vectors = len(classes) if clf._rules().update.keeps_vector_per_class(len(classes)) else 1
    rows = n_features + bool(clf.intercept)
    if table.ndim != 3 or table.shape[0] < rows or table.shape[2] < vectors:
        raise ModelFileError(
            f"the array table has shape {table.shape}, which does not suit {n_features} features and {len(classes)} "
            "classes."
        )


def _plain_encoder(kept: dict[str, Any]) -> dict[str, Any]:
    """The encoder of raw events as JSON; a float64 comes back from its shortest text as the same number."""
    return {**kept, "scaling": {name: array.tolist() for name, array in kept["scaling"].items()}}


def _restore(
    version: int,
    document: dict[str, Any],
    arrays: dict[str, np.ndarray],
    kind: type[Classifier],
    encoders: Mapping[str, Any] | None,
) -> Classifier:
    parameters = {name: revive(value) for name, value in document["parameters"].items()}
    embeddings = _embeddings(parameters.get("fields"), encoders)
    if embeddings:
        parameters["fields"] |= embeddings
    clf = kind(**parameters)
    if document.get("encoder") is not None:
        from askance.data.encoding.rows import RowFeatures

        clf._features = RowFeatures.from_dict(document["encoder"], embeddings)
    learned = document.get("learned")
    if learned is None:
        return clf
    classes = np.asarray(revive(learned["classes"]))
    _check_width(clf, classes, learned["n_features"], arrays)
    clf._begin(classes, learned["n_features"])
    engine = clf._engine
    for name in SAVED:
        target = getattr(engine.state, name)
        if target.shape != arrays[name].shape:
            raise ModelFileError(f"the array {name} has shape {arrays[name].shape} where {target.shape} belongs.")
        target[...] = arrays[name]
    clf._rules().update.check_state(engine.state)
    for field in MODEL_FIELDS:
        if version >= field.since:
            field.restore(engine, arrays)
    if learned["feature_names"] is not None:
        clf.feature_names_in_ = np.array(learned["feature_names"], dtype=object)
    engine.rng = _generator(learned["random"])
    return clf


def _embeddings(fields: Any, encoders: Mapping[str, Any] | None) -> dict[str, Any]:
    """The encoders of the fields that are embedded."""
    embedded = [name for name, kind in (fields or {}).items() if kind == EMBEDDING]
    try:
        return dict(match_encoders(embedded, encoders))
    except InvalidInput as error:
        raise ModelFileError(str(error)) from None


# --- values as JSON --------------------------------------------------------------------------------------


def describe(value: Any) -> Any:
    """A parameter as JSON: plain values as they are, the others as an object that names their kind."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return {"kind": "array", "dtype": value.dtype.str, "values": [value.item()], "scalar": True}
    if isinstance(value, Parameterised):
        parameters = {name: describe(item) for name, item in value.get_params(deep=False).items()}
        module = type(value).__module__
        home = None if module.startswith("askance.") else module  # ours may move between modules
        return {"kind": "rule", "name": type(value).__name__, "module": home, "parameters": parameters}
    if isinstance(value, Embedding):
        return EMBEDDING
    if isinstance(value, Mapping):
        return {"kind": "mapping", "values": {str(name): describe(item) for name, item in value.items()}}
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


def revive(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value["kind"] == "array":
        dtype = np.dtype(value["dtype"])
        if dtype.itemsize * len(value["values"]) > MOST_BYTES_OF_LABELS:
            raise ModelFileError(f"its {len(value['values'])} labels are said to be of type {dtype}.")
        array = np.array(value["values"], dtype=dtype)
        if array.ndim > 1:  # rows of costs, which are compared as lists
            return array.tolist()
        return array[0] if value.get("scalar") else array
    if value["kind"] == "mapping":
        return {name: revive(item) for name, item in value["values"].items()}
    if value["kind"] == "generator":
        return _generator(value["state"])
    if value["kind"] == "rule":
        parameters = {name: revive(item) for name, item in value["parameters"].items()}
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
