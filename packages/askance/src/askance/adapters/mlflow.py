"""An MLflow flavour: models are kept as ``clf.save`` writes them, without pickle, and go on where they were.

``load_model`` gives the classifier back, which asks and learns on. ``mlflow.pyfunc.load_model`` gives what MLflow
serves, which only predicts: the labels for a DataFrame of raw fields, or of numbers for a model of numeric rows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import askance
from askance.errors import InvalidInput
from askance.extras import how_to_install, requirement

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR = "askance"
MODEL_FILE = "classifier.model"
ENVIRONMENT = "python_env.yaml"


def _models() -> Any:
    """MLflow's ``mlflow.models``; the error says how to install it."""
    try:
        import mlflow.models
        import mlflow.pyfunc
    except ModuleNotFoundError as error:
        raise InvalidInput(f"askance.adapters.mlflow needs {error.name}: {how_to_install('mlflow')}.") from None
    return mlflow.models


def save_model(
    clf: Any,
    path: str | os.PathLike[str],
    *,
    signature: Any = None,
    input_example: Any = None,
    metadata: dict[str, Any] | None = None,
    mlflow_model: Any = None,
) -> None:
    """Write a classifier as an MLflow model to a new folder.

    Parameters
    ----------
    clf : ActiveClassifier
        What to keep, with its encoder of raw fields, its open questions and its random numbers.
    path : str or path
        The folder, which must not exist or be empty.
    signature, input_example, metadata
        As for any flavour of MLflow. Without a signature, MLflow finds one from the example.
    mlflow_model : mlflow.models.Model, optional
        What ``log_model`` begins with.
    """
    models = _models()
    from mlflow import pyfunc
    from mlflow.utils.environment import _PythonEnv
    from mlflow.version import VERSION

    if not hasattr(clf, "save") or not getattr(clf, "_has_begun", False):
        raise InvalidInput("only a classifier of askance that has seen an event can be kept as an MLflow model.")
    folder = Path(path)
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"the folder {str(folder)!r} is not empty; name a new one for the model.")
    folder.mkdir(parents=True, exist_ok=True)
    clf.save(folder / MODEL_FILE)
    model = mlflow_model if mlflow_model is not None else models.Model()
    if metadata is not None:
        model.metadata = metadata
    if input_example is not None:
        from mlflow.models.utils import _save_example

        _save_example(model, input_example, str(folder))
        if signature is None:
            signature = models.infer_signature(input_example, MlflowPredictor(clf).predict(input_example))
    if signature is not None:
        model.signature = signature
    model.add_flavor(FLAVOR, askance_version=askance.__version__, data=MODEL_FILE)
    pyfunc.add_to_model(model, loader_module=__name__, data=MODEL_FILE, python_env=ENVIRONMENT)
    _PythonEnv.current().to_yaml(str(folder / ENVIRONMENT))
    (folder / "requirements.txt").write_text(
        f"{requirement('mlflow', askance.__version__)}\nmlflow-skinny=={VERSION}\n"
    )
    model.save(str(folder / "MLmodel"))


def log_model(clf: Any, name: str, *, registered_model_name: str | None = None, **options: Any) -> Any:
    """Log a classifier to the active run of MLflow; options are those of ``save_model``, and of ``Model.log``.

    Returns MLflow's ``ModelInfo``, whose ``model_uri`` is for ``load_model`` and ``mlflow.pyfunc.load_model``.
    """
    return _models().Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        registered_model_name=registered_model_name,
        clf=clf,
        **options,
    )


def load_model(model_uri: str | os.PathLike[str], *, encoders: Mapping[str, Any] | None = None) -> Any:
    """The classifier that was saved or logged, to predict, to ask and to learn on; encoders are as for ``load``."""
    models = _models()
    from mlflow.tracking.artifact_utils import _download_artifact_from_uri

    folder = Path(_download_artifact_from_uri(artifact_uri=str(model_uri)))
    flavors = models.Model.load(str(folder)).flavors
    if FLAVOR not in flavors:
        raise InvalidInput(f"{str(model_uri)!r} is a model of {', '.join(sorted(flavors))}, not of askance.")
    return askance.load(folder / flavors[FLAVOR]["data"], encoders=encoders)


class MlflowPredictor:
    """What ``mlflow.pyfunc`` calls: the labels of the rows of a table."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """The predicted labels."""
        has_names = hasattr(self.classifier, "_features") or hasattr(self.classifier, "feature_names_in_")
        if hasattr(data, "to_numpy") and not has_names:
            data = data.to_numpy()
        return self.classifier.predict(data)


def _load_pyfunc(path: str) -> MlflowPredictor:
    """What ``mlflow.pyfunc.load_model`` calls."""
    return MlflowPredictor(askance.load(path))
