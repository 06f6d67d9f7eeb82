"""A paper's name for a combination of rules, and that combination."""

from __future__ import annotations

import dataclasses
import difflib
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from askance.errors import InvalidType, UnknownAlgorithm
from askance.learner import query as q
from askance.learner import update as u
from askance.learner.rule import QueryRule, UpdateRule

PAPERS = {
    1: "Lu, Zhao, Hoi: Online Passive-Aggressive Active learning (2016)",
    2: "Zhai et al.: Online active classification via margin-based and feature-based label queries (2022)",
    3: "Hao et al.: SOAL: Second-order Online Active Learning (2016)",
    4: "Zhang et al.: Online Adaptive Asymmetric Active Learning with Limited Budgets (2019)",
    5: "Chu et al.: Unbiased Online Active Learning in Data Streams (2011)",
}


AlgorithmName: TypeAlias = Literal[
    "auto", "PE", "PA", "PA-I", "PA-II", "CW-diag", "PAUM", "CPA", "RPE", "RPA", "RPA-I", "RPA-II", "CSRND", "PEA",
    "LEPE", "APE", "SEL-ada", "SEL-2nd", "ASOP", "SOP", "SOP-diag", "PAA", "PAA-I", "APAI", "PAA-II", "APAII",
    "CSPAA", "CSOAL", "CSPAA(a)", "MRPE", "MRPA", "MRPA-I", "MRPA-II", "MPEA", "MPAA", "MPAA-I", "MPAA-II", "DA",
    "R-ADA", "M-ADA", "D-ADA", "D-ADA-I", "MD", "R-AMD", "M-AMD", "D-AMD", "D-AMD-I", "MDA", "MR-ADA", "MM-ADA",
    "MD-ADA", "MD-ADA-I", "MMD", "MR-AMD", "MM-AMD", "MD-AMD", "MD-AMD-I", "SOL", "SORL", "SOAL-M", "SOAL",
    "SOL-diag", "SORL-diag", "SOAL-M-diag", "SOAL-diag", "SOAL-AUC", "OAAL", "SOAL-CS", "OA3", "OA3-diag", "SOA3",
    "SSOA3", "UOAL-entropy", "UOAL-margin", "UOAL-random", "BOAL-entropy", "BOAL-margin", "BOAL-random",
]  # fmt: skip
"""The names and aliases of all algorithms, for type checkers, which find a misspelt one."""


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
    name: AlgorithmName,
    paper: int,
    update: type[UpdateRule],
    query: type[QueryRule],
    *aliases: AlgorithmName,
    **fixed: Any,
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
    preset("SOAL-AUC", 3, u.PairwiseAdaptiveDiagonal, q.Variance),
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


class RuleParameters(TypedDict, total=False):
    """The parameters of all algorithms, for type checkers."""

    weighted: Any
    kernel: Any
    components: Any
    bandwidth: Any
    length: Any
    kernel_seed: Any
    max_variance_ratio: Any
    objective: Any
    costs: Any
    C: Any
    a: Any
    b: Any
    buffer_size: Any
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


def key_of(name: str) -> str:
    """A name as it is looked up: letters and digits, in lower case.

    >>> key_of(" SOAL_diag "), key_of("CSPAA(a)")
    ('soaldiag', 'cspaaa')
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


BY_NAME = {key_of(name): row for row in PRESETS for name in (row.name, *row.aliases)}


AUTO: Literal["auto"] = "auto"
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
    update = update.innermost
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
