"""Algorithms x query ratios x permutations, each algorithm at its best.

For every candidate and every point of its grid the query scale of each wanted ratio is searched, and the point with
the best metric is chosen, on permutations kept for choosing. With the chosen parameters it plays the permutations that
are reported; there the scale is moved once more, if need be, until the mean query ratio is the wanted one: candidates
are compared at equal numbers of labels. One pass over the data each time, as in the papers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from time import monotonic
from typing import Any

from askance.compare.candidate import Candidate
from askance.compare.play import Conditions
from askance.compare.progress import PlayCosts, SweepProgress
from askance.compare.random_baseline import preset_of
from askance.compare.results import Results, TunedSetting
from askance.compare.results_cache import ResultsCache, ResultsFile
from askance.compare.scheduler import Scheduler, WorkerPool
from askance.compare.search import TOLERANCE
from askance.compare.table import Table
from askance.compare.tuning import Rules, Tuning, mean
from askance.engines import make_engine
from askance.errors import InvalidParameter
from askance.evaluate.metrics.objectives import USUAL_METRIC, describe_objectives, objective_for
from askance.evaluate.metrics.register import METRICS, Metric, Weights, comparable

MATRIX_LIMIT = 2 * 2**30
"""Bytes that one learner may take for its matrix."""


class Sweep:
    """A comparison of algorithms on one table.

    Parameters
    ----------
    data : Table, path, name or (X, y)
        What to play.
    algorithms : sequence of Candidate or str
        Who takes part. A bare name plays with the default parameters.
    ratios : sequence of float, optional
        The shares of labels to ask for, each in (0, 1].
    budgets : sequence of int, optional
        Instead of ratios: how many labels may be bought at most. The query scale then is a parameter like the others,
        and may stand in the grid.
    scales : sequence of float, optional
        Instead of ratios: the query scales themselves (delta, b, epsilon or rate), as in the papers' figures.
    permutations : int, default 20
        How many orders of the data are played and reported.
    search_permutations : int, default 5
        How many others are played to choose parameters.
    metric : str, default "balanced_accuracy"
        What to choose by: one of ``metrics.register``, which says whether more or less is better. ``auto``
        optimizes it, where it has an objective for it and no other is given (``metrics.objectives``).
    prepare : {"none", "standard", "l2", "minmax"}
        How to scale the data first.
    intercept : bool, default False
        Append a constant 1 to each event.
    seed : int, default 0
        Decides permutations and coin tosses. The results are the same whatever the number of workers.
    shuffle : bool, default True
        False keeps the order of the data, for streams with drift; "permutations" then differ in the coin tosses only.
    positive : label, optional
        The positive class of two; the second unless given.
    alpha_p, c_p : float
        Weights of ``sum`` and ``cost``, as in ``Trace.summary``.
    tolerance : float, default 0.03
        How far a query ratio may be from the wanted one, relatively.
    settle : bool, default True
        Move the scale on the reported permutations, too, until their mean ratio is within the tolerance. False leaves
        it where the choosing permutations put it.
    settle_rates : bool, default True
        Do so with the rate of rules that ask at random as well, and at a budget let them ask a little more often than
        budget / events, so that they spend it. False takes the ratio itself as the rate, as the papers do.
    everything : bool, default False
        Record also the metrics that need scores or probabilities, and take longer.

    Examples
    --------
    >>> from askance.data.generators import messages
    >>> stream = messages(2_000, random_state=0)
    >>> sweep = Sweep((stream.X, stream.labels), ["PAA-I", "RPA-I"], ratios=[0.1], permutations=3)
    >>> results = sweep.run(workers=1)
    >>> [(choice.candidate, round(choice.ratio, 2)) for choice in results.choices]
    [('PAA-I', 0.1), ('RPA-I', 0.1)]
    """

    def __init__(
        self,
        data: Any,
        algorithms: Sequence[Candidate | str],
        ratios: Sequence[float] | None = None,
        *,
        budgets: Sequence[int] | None = None,
        scales: Sequence[float] | None = None,
        permutations: int = 20,
        search_permutations: int = 5,
        metric: str = USUAL_METRIC,
        prepare: str = "none",
        intercept: bool = False,
        seed: int = 0,
        shuffle: bool = True,
        positive: Any = None,
        alpha_p: float = 0.5,
        c_p: float = 0.9,
        tolerance: float = TOLERANCE,
        settle: bool = True,
        settle_rates: bool = True,
        everything: bool = False,
    ) -> None:
        candidates = [Candidate(entry) if isinstance(entry, str) else entry for entry in algorithms]
        if not candidates:
            raise InvalidParameter("name at least one algorithm; 'askance algorithms' lists them.")
        labels = [candidate.label for candidate in candidates]
        if twice := sorted({label for label in labels if labels.count(label) > 1}):
            raise InvalidParameter(f"{twice[0]} takes part twice; give one of them another label.")
        if metric not in comparable():
            raise InvalidParameter(f"there is no metric {metric!r}; choose by one of {', '.join(comparable())}.")
        for name, value in (("permutations", permutations), ("search_permutations", search_permutations)):
            if value < 1:
                raise InvalidParameter(f"{name} must be 1 or more, got {value}.")
        if not 0.0 < tolerance < 1.0:
            raise InvalidParameter(f"tolerance must be between 0 and 1, got {tolerance}.")
        self.rules = Rules(
            kind="budget" if budgets is not None else "scale" if scales is not None else "ratio",
            targets=_targets(ratios, budgets, scales),
            permutations=permutations,
            search_permutations=search_permutations,
            metric=metric,
            tolerance=tolerance,
            settle=settle,
            settle_rates=settle_rates,
        )
        self.conditions = Conditions(seed, shuffle, alpha_p, c_p, everything or not METRICS[metric].is_counted)
        self.table = Table.of(data, positive=positive).prepare(prepare, intercept)
        weights = Weights(alpha_p, c_p)
        self.objective = objective_for(metric, self.table.positive, len(self.table.classes), weights)
        """What ``auto`` is given to optimize, where nothing is said; None if it has no objective for the metric."""
        self.candidates = [candidate.aimed_at(self.objective) for candidate in candidates]
        self._check_metric(METRICS[metric])
        for candidate in self.candidates:
            preset_of(candidate.name).update().kernels(len(self.table.classes))  # refuses classes it cannot tell apart
            Tuning(candidate, self.table, self.rules)  # refuses parameters that cannot work
            _check_memory(candidate, self.table)

    def _check_metric(self, metric: Metric) -> None:
        """Refuse a metric that these data, or one of the algorithms, do not have."""
        if metric.needs_positive and self.table.positive is None:
            raise InvalidParameter(
                f"{metric.name} is about one class, and {self.table.name} has {len(self.table.classes)}; say which one "
                "with positive, or choose by accuracy, balanced_accuracy or f1."
            )
        if not metric.is_counted and len(self.table.classes) > 2:
            raise InvalidParameter(
                f"{metric.name} is for two classes, and {self.table.name} has {len(self.table.classes)}; choose by "
                "accuracy, balanced_accuracy or f1."
            )
        for candidate in self.candidates:
            if metric.of_probabilities is not None and not preset_of(candidate.name).update.probabilistic:
                raise InvalidParameter(
                    f"{metric.name} is measured on probabilities, and {candidate.label} has none; those of paper 5 "
                    "(UOAL-entropy, BOAL-entropy, ...) do."
                )

    def describe_objectives(self) -> list[str]:
        """Whether ``auto`` and its random baseline optimize the metric, in sentences; empty if neither takes part."""
        committees = {one.label: one.fixed for one in self.candidates if one.is_auto and one.letters <= set(one.fixed)}
        return describe_objectives(self.rules.metric, self.objective, committees)

    def run(
        self,
        progress: Callable[[SweepProgress], None] | None = None,
        workers: int | None = None,
        results: Any = None,
        *,
        engine: str = "local",
        address: str | None = None,
    ) -> Results:
        """Play everything that is not in the results file yet.

        Parameters
        ----------
        progress : callable, optional
            Called with a :class:`SweepProgress` whenever something was finished.
        workers : int, optional
            Processes that play; 1 plays in this one. As many as there are processors unless given.
        results : path, optional
            A JSON Lines file that every finished play is appended to. Running again with the same file takes from it
            what is there, so that an interrupted sweep goes on. Its bytes are the same for every engine and any number
            of workers; measured times go to a file beside it (see ``askance.compare.results_cache``).
        engine : {"local", "ray", "dask"}
            Where the workers are: processes of this machine, or those of a cluster.
        address : str, optional
            That of the cluster. Without one, Ray and Dask start workers on this machine.
        """
        began = monotonic()
        players = make_engine(engine, workers, address)
        report = progress or (lambda _: None)
        tunings = [Tuning(candidate, self.table, self.rules) for candidate in self.candidates]
        with (
            ResultsFile(results) as file,
            WorkerPool(
                self.table,
                self.conditions,
                (cache := ResultsCache(file, self.table, self.conditions)).common,
                players,
                [candidate.algorithm for candidate in self.candidates],
                has_budget=self.rules.kind == "budget",
            ) as pool,
        ):
            scheduler = Scheduler(cache, pool, PlayCosts(), report)
            scheduler.later = lambda: [(tuning.candidate.label, tuning.plays_to_come) for tuning in tunings]
            scheduler.run(task for tuning in tunings for task in tuning.tasks())
        outcome = Results(self.settings())
        for tuning in tunings:
            self._record(tuning, outcome)
        outcome.seconds = monotonic() - began
        return outcome

    def settings(self) -> dict[str, Any]:
        """What was compared on what, in types that JSON knows."""
        table, rules, conditions = self.table, self.rules, self.conditions
        has_positive = table.positive is not None
        return {
            "dataset": table.name,
            "events": table.n_events,
            "features": table.n_features,
            "classes": [str(label) for label in table.classes.tolist()],
            "positive": str(table.classes[table.positive]) if has_positive else None,
            "positive_share": table.positives / table.n_events if has_positive else None,
            "preparation": table.preparation,
            "unlabeled": table.unlabeled,
            "bad_lines": table.bad_lines,
            **vars(rules),
            "seed": conditions.seed,
            "shuffle": conditions.shuffle,
            "alpha_p": conditions.alpha_p,
            "c_p": conditions.c_p,
        }

    def _record(self, tuning: Tuning, outcome: Results) -> None:
        for final in sorted(tuning.finals, key=lambda final: final.target):
            about: dict[str, Any] = {
                "dataset": self.table.name,
                "candidate": tuning.candidate.label,
                "algorithm": tuning.candidate.algorithm,
                "target": final.target,
            }
            has_knob = tuning.candidate.scale_parameter is not None and self.rules.kind != "budget"
            ratio = mean(final.results, "query_ratio")
            outcome.choices.append(
                TunedSetting(
                    **about,
                    parameters=final.parameters,
                    scale=final.found.scale if has_knob else None,
                    ratio=ratio,
                    reached=final.found.reached,
                    note=final.found.note(ratio),
                    score=final.trial.score,
                    points=len(tuning.points),
                )
            )
            for permutation, result in enumerate(final.results):
                numbers = {name: value for name, value in result.items() if name != "cost_seconds"}
                outcome.records.append(about | {"permutation": permutation, "reached": final.found.reached} | numbers)


def _check_memory(candidate: Candidate, table: Table) -> None:
    """Refuse an algorithm whose matrix of features by features would not fit into memory."""
    if candidate.is_auto:  # which keeps matrices only of few features
        return
    rule = preset_of(candidate.name).update()
    few = 4
    if rule.start(few, 2).matrix.size < few * few:
        return
    size = 8 * table.n_features**2
    if size > MATRIX_LIMIT:
        raise InvalidParameter(
            f"{candidate.label} keeps a matrix of {table.n_features:,} x {table.n_features:,} numbers, "
            f"{size / 2**30:.0f} GB; use its diagonal form, whose name ends in -diag."
        )


def _targets(
    ratios: Sequence[float] | None, budgets: Sequence[int] | None, scales: Sequence[float] | None
) -> list[float]:
    given = [targets for targets in (ratios, budgets, scales) if targets is not None]
    if len(given) != 1:
        raise InvalidParameter("give either ratios, such as [0.05, 0.1], or budgets, such as [100, 500], or scales.")
    targets = [float(target) if budgets is None else target for target in given[0]]
    if not targets:
        raise InvalidParameter("there must be at least one query ratio, budget or scale.")
    for target in targets:
        if ratios is not None and not 0.0 < target <= 1.0:
            raise InvalidParameter(f"a query ratio is in (0, 1], got {target}; for a number of labels use budgets.")
        if budgets is not None and (target < 1 or int(target) != target):
            raise InvalidParameter(f"a budget is a whole number of labels, 1 or more, got {target}.")
        if scales is not None and not 0.0 < target < inf:
            raise InvalidParameter(f"a query scale is a finite number above 0, got {target}.")
    return sorted(dict.fromkeys(targets))
