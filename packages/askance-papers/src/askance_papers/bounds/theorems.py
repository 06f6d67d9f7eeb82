"""The right-hand sides, as printed: functions of one play, of the fixed classifier w, and of the parameters.

For the expectation that a theorem speaks of, the mean is taken over plays that differ in their random numbers alone.
"""

from __future__ import annotations

import numpy as np

from askance_papers.bounds.followed import Followed


def hinge(played: Followed, w: np.ndarray, wanted: np.ndarray | float = 1.0) -> np.ndarray:
    return np.maximum(0.0, wanted - played.y * (played.X @ w))


def importance(played: Followed, rho: float) -> np.ndarray:
    """rho_t: rho for a positive event, one for the others."""
    return np.where(played.y > 0, rho, 1.0)


def longest(played: Followed) -> float:
    """R^2."""
    return float((played.X**2).sum(axis=1).max())


# --- paper 1 ---------------------------------------------------------------------------------------------


def separable(played: Followed, w: np.ndarray, k: int, delta: float) -> float:
    """Theorem 1: R^2 / 4 (delta + 1 / delta + 2) ||w||^2, for w without any loss."""
    if hinge(played, w).max() > 1e-9:
        return np.inf
    return float(longest(played) / 4.0 * (delta + 1.0 / delta + 2.0) * (w @ w))


def shifted(played: Followed, w: np.ndarray, k: int, delta: float) -> float:
    """Theorem 4: R^2 (delta / 4 + 1 / delta + 1) ||w||^2, for w without any loss."""
    if hinge(played, w).max() > 1e-9:
        return np.inf
    return float(longest(played) * (delta / 4.0 + 1.0 / delta + 1.0) * (w @ w))


def capped(played: Followed, w: np.ndarray, k: int, delta: float, C: float) -> float:
    """Theorem 2: max(1 / C, R^2) / delta {((delta + 1) / 2)^2 ||w||^2 + (delta + 1) C sum l}."""
    inner = ((delta + 1.0) / 2.0) ** 2 * (w @ w) + (delta + 1.0) * C * hinge(played, w).sum()
    return float(max(1.0 / C, longest(played)) / delta * inner)


def soft(played: Followed, w: np.ndarray, k: int, delta: float, C: float) -> float:
    """Theorem 3: (R^2 + 1 / (2 C)) / delta ((delta + 1) / 2)^2 {||w||^2 + 2 C sum l^2}."""
    inner = (w @ w) + 2.0 * C * (hinge(played, w) ** 2).sum()
    return float((longest(played) + 0.5 / C) / delta * ((delta + 1.0) / 2.0) ** 2 * inner)


def cost_sensitive(played: Followed, w: np.ndarray, k: int, delta: float, C: float, rho: float) -> float:
    """Theorem 6, for sum rho_t M_t: 1 / delta {((1 + delta) / 2)^2 ||w||^2 + (1 + delta) C sum l}, C >= rho."""
    loss = hinge(played, w, importance(played, rho)).sum()
    return float((((1.0 + delta) / 2.0) ** 2 * (w @ w) + (1.0 + delta) * C * loss) / delta)


# --- paper 2 ---------------------------------------------------------------------------------------------


def discriminative(
    played: Followed, w: np.ndarray, k: int, b: float, eta: float, delta: float, is_mirror: bool, is_scaled: bool
) -> float:
    """Theorem 1, Eq. 3 for dual averaging and Eq. 4 for mirror descent, b >= 2."""
    squares = np.cumsum(np.where(played.learned[:, None], played.X**2, 0.0), axis=0)
    after = delta + np.sqrt(squares)  # H_t
    before = np.vstack([np.full(played.X.shape[1], delta), after[:-1]])  # H_(t-1)
    share = 1.0 / np.maximum(1.0, (played.X**2).sum(axis=1)) if is_scaled else np.ones(len(played.y))  # a_t
    certain = np.abs(played.margin) - eta / 2.0 * share * (played.X**2 / before).sum(axis=1) <= 0.0  # q_t <= 0
    signed = played.y * played.margin
    unsure = (signed >= 0.0) & (signed < 1.0)  # L_t: here a margin of zero is never a mistake
    steps = np.where(played.learned, (played.X**2 / (after if is_mirror else before)).sum(axis=1), 0.0)
    largest = float((w**2).max())  # A_1
    factor = (
        (played.farthest_weight[k] + (b - 1.0) ** 2 * largest) / (eta * b) if is_mirror else b * largest / (2.0 * eta)
    )
    return float(
        hinge(played, w)[played.asked].sum()
        + factor * after[-1].sum()
        - unsure[certain].sum() / b
        + eta / (2.0 * b) * ((share * steps)[certain].sum() + ((1.0 - share) * steps).sum())
    )


# --- paper 3 ---------------------------------------------------------------------------------------------


def second_order(played: Followed, w: np.ndarray, k: int, delta: float, eta: float, gamma: float) -> float:
    """Theorem 1, Eq. 7."""
    confidence = eta * gamma * played.variance / (gamma + played.variance)
    rho = np.abs(played.margin) - confidence / 2.0
    distance = played.farthest[k] + (1.0 - delta) ** 2 * (w @ w)  # D and (1 - delta)^2 ||mu||^2
    return float(
        hinge(played, w)[played.asked].sum()
        + distance / (eta * delta) * played.trace_of_inverse(gamma)
        + confidence[rho < 0.0].sum() / delta
        + 2.0 / delta * played.unsure[rho > 0.0].sum()
        - played.unsure.sum()
    )


def best_rate(played: Followed, w: np.ndarray, k: int, delta: float, gamma: float) -> float:
    """The eta for which Eq. 8 holds: root of (D + (1 - delta)^2 ||mu||^2) Tr(S^-1) / (gamma ln |S^-1|)."""
    distance = played.farthest[k] + (1.0 - delta) ** 2 * (w @ w)
    inverse = played.trace_of_inverse(gamma) / played.log_determinant_of_inverse(gamma)
    return float(np.sqrt(distance * inverse / gamma))


# --- paper 4 ---------------------------------------------------------------------------------------------


def count_rounds_to_spend(played: Followed, budget: int) -> int:
    """T_B: how many rounds there are until the budget is spent."""
    spent = np.flatnonzero(np.cumsum(played.asked) >= budget)
    return int(spent[0]) + 1 if spent.size else len(played.y)


def within_budget(
    played: Followed, w: np.ndarray, k: int, deltas: tuple[float, float], eta: float, gamma: float, rho: float,
    budget: int,
) -> float:  # fmt: skip
    """Theorem 1: 1 / rho_min {sum l + D Tr(S^-1) / eta}, over the rounds within the budget."""
    until = count_rounds_to_spend(played, budget)
    loss = (importance(played, rho) * hinge(played, w))[:until].sum()
    reach = max((played.farthest[k] + (1.0 - delta) ** 2 * (w @ w)) / delta for delta in deltas)
    return float((loss + reach * played.trace_of_inverse(gamma, until) / eta) / min(1.0, rho))


def over_budget(played: Followed, w: np.ndarray, k: int, rho: float, budget: int) -> float:
    """Theorem 4: sum of l / rho_min + y x.mu over the rounds after the budget, mu as it was left."""
    after = slice(count_rounds_to_spend(played, budget), None)
    loss = (importance(played, rho) * hinge(played, w))[after].sum()
    return float(loss / min(1.0, rho) + (played.y * (played.X @ played.last))[after].sum())
