"""A paper's name for a combination of rules, and that combination."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np

from askance.deprecation import warn_renamed
from askance.errors import InvalidParameter, InvalidType, UnknownAlgorithm
from askance.learner import query as q
from askance.learner import update as u
from askance.learner.rule import QueryRule, UpdateRule

if TYPE_CHECKING:
    from askance.learner.classifier import ActiveClassifier
    from askance.learner.stream_classifier import StreamClassifier


PAPERS = {
    1: "Lu, Zhao, Hoi: Online Passive-Aggressive Active learning (2016)",
    2: "Zhai et al.: Online active classification via margin-based and feature-based label queries (2022)",
    3: "Hao et al.: SOAL: Second-order Online Active Learning (2016)",
    4: "Zhang et al.: Online Adaptive Asymmetric Active Learning with Limited Budgets (2019)",
    5: "Chu et al.: Unbiased Online Active Learning in Data Streams (2011)",
}


class Preset(NamedTuple):
    """A row of the table of algorithms."""

    name: str
    paper: int
    update: type[UpdateRule]
    query: type[QueryRule]
    aliases: tuple[str, ...]
    fixed: dict[str, Any]
    """Parameters that the name itself decides, such as one weight vector per class."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The letters a user may set, with their defaults."""
        fields = [*dataclasses.fields(self.update), *dataclasses.fields(self.query)]
        return {
            field.name: field.default
            for field in fields
            if field.name not in self.fixed
            and field.default is not None
            and field.name not in ("per_class", "weighted", "as_printed", "old_covariance")
        }

    @property
    def takes_costs(self) -> bool:
        """Whether a user may say what mistakes cost."""
        return any(field.name == "costs" for field in dataclasses.fields(self.update))

    @property
    def can_be_weighted(self) -> bool:
        """Whether a user may say if answers count with their importance weights; some names say it themselves."""
        return "weighted" not in self.fixed


def preset(
    name: str, paper: int, update: type[UpdateRule], query: type[QueryRule], *aliases: str, **fixed: Any
) -> Preset:
    return Preset(name, paper, update, query, aliases, fixed)


PRESETS = (
    # passive
    preset("PE", 1, u.Perceptron, q.Always),
    preset("PA", 1, u.PassiveAggressive, q.Always),
    preset("PA-I", 1, u.PassiveAggressive1, q.Always),
    preset("PA-II", 1, u.PassiveAggressive2, q.Always),
    preset("CW-diag", 1, u.ConfidenceWeighted, q.Always),
    preset("PAUM", 1, u.UnevenMarginPerceptron, q.Always),
    preset("CPA", 1, u.PredictionBasedPassiveAggressive, q.Always),
    # random
    preset("RPE", 1, u.Perceptron, q.Random),
    preset("RPA", 1, u.PassiveAggressive, q.Random),
    preset("RPA-I", 1, u.PassiveAggressive1, q.Random),
    preset("RPA-II", 1, u.PassiveAggressive2, q.Random),
    preset("CSRND", 1, u.CostSensitivePassiveAggressive, q.Random),
    # active
    preset("PEA", 1, u.Perceptron, q.Margin, "LEPE", "APE"),
    preset("SEL-ada", 1, u.Perceptron, q.MistakeDrivenMargin),
    preset("SEL-2nd", 1, u.SecondOrderPerceptron, q.Margin, "ASOP", "SOP"),
    preset("SOP-diag", 1, u.SecondOrderPerceptronDiagonal, q.Margin),
    preset("PAA", 1, u.PassiveAggressive, q.Margin),
    preset("PAA-I", 1, u.PassiveAggressive1, q.Margin, "APAI"),
    preset("PAA-II", 1, u.PassiveAggressive2, q.Margin, "APAII"),
    preset("CSPAA", 1, u.CostSensitivePassiveAggressive, q.Margin, "CSOAL"),
    preset("CSPAA(a)", 1, u.CostSensitivePassiveAggressive, q.DecreasingMargin),
    # multi-class
    preset("MRPE", 1, u.Perceptron, q.Random, per_class=True),
    preset("MRPA", 1, u.PassiveAggressive, q.Random, per_class=True),
    preset("MRPA-I", 1, u.PassiveAggressive1, q.Random, per_class=True),
    preset("MRPA-II", 1, u.PassiveAggressive2, q.Random, per_class=True),
    preset("MPEA", 1, u.Perceptron, q.Margin, per_class=True),
    preset("MPAA", 1, u.PassiveAggressive, q.Margin, per_class=True),
    preset("MPAA-I", 1, u.PassiveAggressive1, q.Margin, per_class=True),
    preset("MPAA-II", 1, u.PassiveAggressive2, q.Margin, per_class=True),
    # adaptive subgradients
    preset("DA", 2, u.DualAveraging, q.Always),
    preset("R-ADA", 2, u.DualAveraging, q.Random),
    preset("M-ADA", 2, u.DualAveraging, q.FunctionValue),
    preset("D-ADA", 2, u.DualAveraging, q.Discriminative),
    preset("D-ADA-I", 2, u.DualAveraging, q.DiscriminativeUnscaled),
    preset("MD", 2, u.MirrorDescent, q.Always),
    preset("R-AMD", 2, u.MirrorDescent, q.Random),
    preset("M-AMD", 2, u.MirrorDescent, q.FunctionValue),
    preset("D-AMD", 2, u.MirrorDescent, q.Discriminative),
    preset("D-AMD-I", 2, u.MirrorDescent, q.DiscriminativeUnscaled),
    preset("MDA", 2, u.DualAveraging, q.Always, per_class=True),
    preset("MR-ADA", 2, u.DualAveraging, q.Random, per_class=True),
    preset("MM-ADA", 2, u.DualAveraging, q.FunctionValue, per_class=True),
    preset("MD-ADA", 2, u.DualAveraging, q.Discriminative, per_class=True),
    preset("MD-ADA-I", 2, u.DualAveraging, q.DiscriminativeUnscaled, per_class=True),
    preset("MMD", 2, u.MirrorDescent, q.Always, per_class=True),
    preset("MR-AMD", 2, u.MirrorDescent, q.Random, per_class=True),
    preset("MM-AMD", 2, u.MirrorDescent, q.FunctionValue, per_class=True),
    preset("MD-AMD", 2, u.MirrorDescent, q.Discriminative, per_class=True),
    preset("MD-AMD-I", 2, u.MirrorDescent, q.DiscriminativeUnscaled, per_class=True),
    # second order
    preset("SOL", 3, u.AdaptiveRegularization, q.Always),
    preset("SORL", 3, u.AdaptiveRegularization, q.Random),
    preset("SOAL-M", 3, u.AdaptiveRegularization, q.Margin),
    preset("SOAL", 3, u.AdaptiveRegularization, q.Variance),
    preset("SOL-diag", 3, u.AdaptiveRegularizationDiagonal, q.Always),
    preset("SORL-diag", 3, u.AdaptiveRegularizationDiagonal, q.Random),
    preset("SOAL-M-diag", 3, u.AdaptiveRegularizationDiagonal, q.Margin),
    preset("SOAL-diag", 3, u.AdaptiveRegularizationDiagonal, q.Variance),
    # asymmetric
    preset("OAAL", 4, u.PassiveAggressive1, q.AsymmetricMargin),
    preset("SOAL-CS", 4, u.CostSensitiveAdaptive, q.Variance),
    preset("OA3", 4, u.AsymmetricAdaptive, q.AsymmetricVariance),
    preset("OA3-diag", 4, u.AsymmetricAdaptiveDiagonal, q.AsymmetricVariance),
    preset("SOA3", 4, u.AsymmetricAdaptiveSketched, q.AsymmetricVariance),
    preset("SSOA3", 4, u.AsymmetricAdaptiveSparseSketched, q.AsymmetricVariance),
    # Bayesian
    preset("UOAL-entropy", 5, u.Probit, q.Entropy, weighted=True, as_printed=True),
    preset("UOAL-margin", 5, u.Probit, q.FunctionValue, weighted=True, as_printed=True),
    preset("UOAL-random", 5, u.Probit, q.Random, weighted=True, as_printed=True),
    preset("BOAL-entropy", 5, u.Probit, q.Entropy),
    preset("BOAL-margin", 5, u.Probit, q.FunctionValue),
    preset("BOAL-random", 5, u.Probit, q.Random),
)


def key_of(name: str) -> str:
    """A name as it is looked up: letters and digits, in lower case.

    >>> key_of(" SOAL_diag "), key_of("CSPAA(a)")
    ('soaldiag', 'cspaaa')
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


BY_NAME = {key_of(name): row for row in PRESETS for name in (row.name, *row.aliases)}


AUTO = "auto"
"""The name of the classifier that needs a budget and nothing else (see ``auto``); it comes from no paper."""


def find(name: str) -> Preset:
    """The preset of this name, in whatever case, with any marks between its letters, or none."""
    if not isinstance(name, str):
        raise InvalidType(f"the name of an algorithm is a string, got {name!r}; askance.algorithms() lists them.")
    found = BY_NAME.get(key_of(name))
    if found is None:
        names = (AUTO, *(spelling for row in PRESETS for spelling in (row.name, *row.aliases)))
        spelled = {spelling.casefold(): spelling for spelling in names}
        close = difflib.get_close_matches(name.strip().casefold(), spelled, n=3, cutoff=0.4)
        advice = f"Did you mean {' or '.join(spelled[key] for key in close)}? " if close else ""
        raise UnknownAlgorithm(
            f"there is no algorithm {name!r}. {advice}askance.algorithms() lists all of them, as 'askance algorithms' "
            "does in a shell."
        )
    return found


def name_of(update: UpdateRule, query: QueryRule) -> str | None:
    """The name of the algorithm that has these rules, None if none has.

    >>> name_of(u.PassiveAggressive1(C=0.5), q.Margin()), name_of(u.PassiveAggressive1(), q.Entropy())
    ('PAA-I', None)
    """
    own = update.get_params()
    rows = [
        row
        for row in PRESETS
        if (row.update, row.query) == (type(update), type(query)) and row.fixed.items() <= own.items()
    ]
    return max(rows, key=lambda row: len(row.fixed)).name if rows else None


def is_auto(name: Any) -> bool:
    """Whether a user means ``auto``, in whatever case."""
    return isinstance(name, str) and key_of(name) == AUTO


COMMON = (
    "budget",
    "classes",
    "normalize",
    "intercept",
    "n_features",
    "random_state",
    "explore",
    "max_pending",
    "max_pending_age",
    "fields",
    "na_values",
)

RENAMED_PARAMETERS = {"keep": "max_pending", "keep_for": "max_pending_age"}
"""What parameters were called in 0.1."""


class Parameters(TypedDict, total=False):
    """The names of all parameters that ``make`` takes, for type checkers. Which of them an algorithm has depends on its
    name, and values are checked when it is made: a program may pass a ``dict`` of numbers."""

    budget: Any
    classes: Any
    normalize: Any
    intercept: Any
    n_features: Any
    random_state: Any
    explore: Any
    max_pending: Any
    max_pending_age: Any
    fields: Any
    na_values: Any
    weighted: Any
    objective: Any
    costs: Any
    C: Any
    a: Any
    b: Any
    decay: Any
    local_decay: Any
    delta: Any
    delta_neg: Any
    delta_pos: Any
    epsilon: Any
    eta: Any
    gamma: Any
    phi: Any
    prior_variance: Any
    rate: Any
    rho: Any
    sketch_seed: Any
    sketch_size: Any
    tau_neg: Any
    tau_pos: Any
    keep: Any
    keep_for: Any


def make(name: str, **parameters: Unpack[Parameters]) -> ActiveClassifier:
    """A classifier by the name of its algorithm.

    Parameters
    ----------
    name : str
        A name or alias of ``askance.algorithms()``, in whatever case ("soal_diag" is SOAL-diag); or "auto", which needs
        a budget and chooses everything else as the stream goes.
    **parameters
        The algorithm's own parameters, by the papers' letters (``C``, ``delta``, ``eta``, ...), and those
        every algorithm has: ``budget``, ``classes``, ``normalize``, ``intercept``, ``n_features``, ``random_state``,
        ``explore``, ``max_pending``, ``max_pending_age``, ``fields``, ``na_values``; and, where the name does not
        settle it, ``weighted``.
        D-ADA, D-AMD and their relatives take ``costs``, what mistakes cost: ``{"fraud": {"ok": 9}}`` (a fraud predicted
        as ok costs 9, other mistakes 1), a matrix with a row per class, or for two classes ``{"fn": 9, "fp": 1}``.
        "auto" takes ``objective`` ("balanced", "accuracy", "f1" or "cost") and ``costs``, too; it scales
        the features itself and takes no notice of ``normalize`` and ``intercept``.

    Examples
    --------
    >>> import askance
    >>> clf = askance.make("PAA-I", C=0.5, delta=0.1, random_state=0)
    >>> clf.update
    PassiveAggressive1(C=0.5, per_class=False, weighted=False)
    >>> clf.query
    Margin(delta=0.1)
    """
    given: dict[str, Any] = {**parameters}
    for old, new in RENAMED_PARAMETERS.items():
        if old in given:
            warn_renamed(old, new)
            given[new] = given.pop(old)
    settings = settings_of(name, given)
    from askance.learner.classifier import ActiveClassifier  # only now: a slip costs no import of scikit-learn

    clf = ActiveClassifier(**settings)
    clf.check_rules()
    return clf


def make_stream_classifier(name: str, **parameters: Any) -> StreamClassifier:
    """What ``make`` makes, without scikit-learn."""
    settings = settings_of(name, parameters)
    from askance.learner.stream_classifier import StreamClassifier

    clf = StreamClassifier(**settings)
    clf.check_rules()
    return clf


def check(name: str, **parameters: Any) -> None:
    """Raise what ``make`` would raise for these rules and this budget, without making anything."""
    from askance.learner.compiled import combine

    given = settings_of(name, parameters)
    usual = {"budget": None, "normalize": None, "intercept": False, "explore": 0.0}
    combine(given["update"], given["query"], *(given.get(key, value) for key, value in usual.items())).check()


def settings_of(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the classifier that a name and parameters stand for."""
    parameters = dict(parameters)
    if isinstance(parameters.get("costs"), np.ndarray):
        parameters["costs"] = parameters["costs"].tolist()
    common = {key: parameters.pop(key) for key in COMMON if key in parameters}
    if is_auto(name):
        from askance.learner.auto.make import settings_of_auto

        return settings_of_auto(common, parameters)
    row = find(name)
    known = row.parameters
    for key in parameters:
        is_choice = (key == "weighted" and row.can_be_weighted) or (key == "costs" and row.takes_costs)
        if key not in known and not is_choice:
            own_letters = [*known, *(["costs"] if row.takes_costs else [])]
            raise no_parameter(row.name, key, own_letters, [*COMMON, *(["weighted"] if row.can_be_weighted else [])])
    parameters |= row.fixed

    def own(rule: type[UpdateRule] | type[QueryRule]) -> dict[str, Any]:
        names = {field.name for field in dataclasses.fields(rule)}
        return {key: value for key, value in parameters.items() if key in names}

    return {"update": row.update(**own(row.update)), "query": row.query(**own(row.query)), **common}


def no_parameter(name: str, key: str, own: Collection[str], common: Collection[str]) -> InvalidParameter:
    """The error for a parameter that an algorithm does not have: the one that was meant, or all there are."""
    spelled = {known.casefold(): known for known in (*common, *own)}
    close = difflib.get_close_matches(key.casefold(), spelled, n=1, cutoff=0.8)
    if close:
        return InvalidParameter(f"{name} has no parameter {key!r}; did you mean {spelled[close[0]]!r}?")
    return InvalidParameter(
        f"{name} has no parameter {key!r}; it takes {', '.join(own) or 'no parameters of its own'}; and, like every "
        f"algorithm, {', '.join(common)}."
    )


def algorithms() -> list[dict[str, Any]]:
    """The table of algorithms: name, aliases, paper, update, query, parameters with their defaults.

    The paper of "auto" is None: it comes from none, and is no preset (see ``askance.learner.auto``).

    Examples
    --------
    >>> import askance
    >>> next(row for row in askance.algorithms() if row["name"] == "SOAL")
    {'name': 'SOAL', 'aliases': [], 'paper': 3, 'update': 'AdaptiveRegularization', 'query': 'Variance', \
'parameters': {'eta': 1.0, 'gamma': 1.0, 'delta': 1.0}}
    """
    from askance.learner.auto.make import PARAMETERS

    alone: dict[str, Any] = {
        "name": AUTO, "aliases": [], "paper": None, "update": "Committee", "query": "InverseSquareMargin",
        "parameters": {letter: value for letter, value in PARAMETERS.items() if value is not None},
    }  # fmt: skip
    return [alone] + [
        {
            "name": row.name,
            "aliases": list(row.aliases),
            "paper": row.paper,
            "update": row.update.__name__,
            "query": row.query.__name__,
            "parameters": row.parameters,
        }
        for row in PRESETS
    ]
