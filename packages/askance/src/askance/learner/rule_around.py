"""An update rule around another one: what it takes over from the rule within."""

from __future__ import annotations

from typing import Any

import numpy as np

from askance.learner.rule import Kernels, UpdateRule


class RuleAround(UpdateRule):
    """A rule that lets the rule ``update`` learn, on other events or in other arrays than its own."""

    update: UpdateRule

    def kernels_around(self, inner: Kernels) -> Kernels:
        """The kernels, with those of the rule within in their slots."""
        raise NotImplementedError

    def kernels(self, n_classes: int) -> Kernels:
        return self.kernels_around(self.update.kernels(n_classes))

    @property
    def binary(self) -> Kernels:  # type: ignore[override]
        return self.kernels_around(self.update.binary)

    @property
    def multiclass(self) -> Kernels | None:  # type: ignore[override]
        return None if self.update.multiclass is None else self.kernels_around(self.update.multiclass)

    @property
    def innermost(self) -> UpdateRule:
        return self.update.innermost

    @property
    def probabilistic(self) -> bool:  # type: ignore[override]
        return self.update.probabilistic

    @property
    def weighted(self) -> bool:  # type: ignore[override]
        return self.update.weighted

    @property
    def per_class(self) -> bool:  # type: ignore[override]
        return self.update.per_class

    @property
    def costs(self) -> Any:  # type: ignore[override]
        return self.update.costs

    @property
    def is_idempotent(self) -> bool:  # type: ignore[override]
        return self.update.is_idempotent

    @property
    def takes_weights(self) -> bool:
        return self.update.takes_weights

    @property
    def moves_threshold(self) -> bool:
        return self.update.moves_threshold

    @property
    def provides_variance(self) -> bool:
        return self.update.provides_variance

    def parameters(self) -> np.ndarray:
        return self.update.parameters()
