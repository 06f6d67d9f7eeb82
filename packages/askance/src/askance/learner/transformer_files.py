"""Transformers of scikit-learn in files, without pickle: as plain values, arrays, and the names of their classes.

Saved is what scikit-learn's own ``__getstate__`` gives, its version included, so that a file of another version is
warned of as a pickle would be. A class is looked up by its name among scikit-learn's estimators, and nothing else is
ever made or called: a transformer that holds a function or an object of another library is refused.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from askance.errors import InvalidInput, ModelFileError

Arrays = dict[str, np.ndarray]
HOME = re.compile(r"sklearn(\.\w+)+")
ARRAY_KINDS = "iufbU"
COLLECTIONS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
SPARSE = {"csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "dia": ("data", "offsets")}


class NotPlain(ValueError):
    """A value that cannot be written without pickle."""


def describe_transformer(name: str, transformer: Any, arrays: Arrays) -> Any:
    """A transformer as JSON; the arrays it has are added to the others."""
    try:
        return _describe(transformer, arrays)
    except NotPlain as error:
        raise InvalidInput(
            f"the step {name!r} cannot be saved without pickle, because it holds {error}; save the classifier alone, "
            "with model.classifier.save(path), and keep the transformers yourself, such as with skops or joblib."
        ) from None


def revive_transformer(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """What ``describe_transformer`` was given."""
    found = _revive(value, arrays)
    if not (found is None or found == "passthrough" or hasattr(found, "transform")):
        raise ModelFileError(f"it has a step that is no transformer, {found!r}.")
    return found


# --- out -------------------------------------------------------------------------------------------------


def _describe(value: Any, arrays: Arrays) -> Any:
    if value is None or value.__class__ in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray):
        return _describe_array(value, arrays)
    if isinstance(value, np.generic) and value.dtype.kind in ARRAY_KINDS:
        return {"kind": "scalar", **_keep(np.array([value]), arrays)}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"kind": "type", "name": np.dtype(value).str}
    if isinstance(value, np.dtype) and value.kind in ARRAY_KINDS:
        return {"kind": "dtype", "name": value.str}
    if sp.issparse(value) and value.format in SPARSE:
        parts = {name: _keep(getattr(value, name), arrays) for name in SPARSE[value.format]}
        is_array = isinstance(value, sp.sparray)
        return {"kind": "sparse", "format": value.format, "shape": value.shape, "array": is_array, "parts": parts}
    if value.__class__ in COLLECTIONS.values():
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return {"kind": type(value).__name__, "values": [_describe(item, arrays) for item in items]}
    if value.__class__ is dict:
        return {"kind": "dict", "values": [[_describe(key, arrays), _describe(value[key], arrays)] for key in value]}
    if isinstance(value, slice):
        return {"kind": "slice", "values": [_describe(end, arrays) for end in (value.start, value.stop, value.step)]}
    if isinstance(value, BaseEstimator) and HOME.fullmatch(type(value).__module__):
        return _describe_estimator(value, arrays)
    raise NotPlain(f"a value of type {type(value).__module__}.{type(value).__qualname__}")


def _describe_array(value: np.ndarray, arrays: Arrays) -> Any:
    if value.dtype.kind in ARRAY_KINDS:
        return {"kind": "array", **_keep(value, arrays)}
    if value.dtype.kind != "O":
        raise NotPlain(f"an array of type {value.dtype}")
    return {"kind": "objects", "shape": value.shape, "values": [_describe(item, arrays) for item in value.ravel()]}


def _describe_estimator(value: BaseEstimator, arrays: Arrays) -> Any:
    state = value.__getstate__()
    if state.get("memory") is not None:
        raise NotPlain("a memory of what it computed; set memory=None")
    return {
        "kind": "estimator",
        "module": type(value).__module__,
        "name": type(value).__name__,
        "state": {name: _describe(item, arrays) for name, item in state.items()},
    }


def _keep(array: np.ndarray, arrays: Arrays) -> dict[str, str]:
    name = f"transformers_{len(arrays)}"
    arrays[name] = array
    return {"array": name}


# --- and in ----------------------------------------------------------------------------------------------


def _revive(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if not isinstance(value, dict):
        return value
    match value["kind"]:
        case "array":
            return arrays[value["array"]]
        case "scalar":
            return arrays[value["array"]][0]
        case "type":
            return np.dtype(value["name"]).type
        case "dtype":
            return np.dtype(value["name"])
        case "objects":
            found = np.empty(len(value["values"]), object)
            found[:] = [_revive(item, arrays) for item in value["values"]]
            return found.reshape(value["shape"])
        case "sparse":
            parts = tuple(arrays[value["parts"][name]["array"]] for name in SPARSE[value["format"]])
            make = getattr(sp, f"{value['format']}_{'array' if value['array'] else 'matrix'}")
            return make(parts, shape=value["shape"])
        case "dict":
            return {_revive(key, arrays): _revive(item, arrays) for key, item in value["values"]}
        case "slice":
            return slice(*(_revive(end, arrays) for end in value["values"]))
        case "estimator":
            return _revive_estimator(value, arrays)
        case kind if kind in COLLECTIONS:
            return COLLECTIONS[kind](_revive(item, arrays) for item in value["values"])
    raise ModelFileError(f"it holds a value of an unknown kind, {value['kind']!r}.")


def _revive_estimator(value: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
    module, name = value["module"], value["name"]
    found: Any = None
    if HOME.fullmatch(module) and not module.startswith("sklearn.externals"):
        try:
            found = getattr(importlib.import_module(module), name, None)
        except ImportError:
            found = None
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        raise ModelFileError(
            f"it uses {module}.{name}, which is no estimator of the scikit-learn that is installed here."
        )
    state = {key: _revive(item, arrays) for key, item in value["state"].items()}
    if state.get("memory") is not None:
        raise ModelFileError(f"its {name} has a memory, which saved ones never have.")
    new: Any = object.__new__(found)
    new.__setstate__(state)
    return new
