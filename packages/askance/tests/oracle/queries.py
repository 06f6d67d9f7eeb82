"""When to ask: the probability, as the papers print it, from what is known of one event before its label."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr


@dataclass
class Event:
    p: float  # margin
    v: float  # variance
    squared_length: float
    t: int  # 1 for the first event of the stream
    mistakes: int  # seen on asked events so far


def always(event):
    return 1.0


def random(event, rate):
    return rate


def margin(event, delta):
    """Paper 1, Algorithm 2."""
    return delta / (delta + abs(event.p))


def shifted_margin(event, delta):
    """Paper 1, Theorem 4."""
    return delta / (delta + 1 + abs(event.p))


def decreasing_margin(event, delta):
    """Paper 1, remark before section 5.3: delta_t = delta_{t-1} t / (t + 1)."""
    return margin(event, delta / (event.t + 1))


def mistake_driven_margin(event, delta):
    """Paper 1, section 6.1.1 (SEL-ada)."""
    return margin(event, delta * np.sqrt(1 + event.mistakes))


def variance(event, delta, eta, gamma):
    """Paper 3, Algorithm 1."""
    rho_t = abs(event.p) - eta * gamma * event.v / (2 * (gamma + event.v))
    return delta / (delta + rho_t) if rho_t > 0 else 1.0


def asymmetric_margin(event, delta_pos, delta_neg):
    """Paper 4, section 2.4 (OAAL)."""
    delta = delta_pos if event.p >= 0 else delta_neg
    return delta / (delta + abs(event.p))


def asymmetric_variance(event, delta_pos, delta_neg, eta, gamma, rho):
    """Paper 4, Algorithm 3."""
    q = max(0.0, abs(event.p) - 0.5 * eta * max(1.0, rho) / (1 / event.v + 1 / gamma))
    delta = delta_pos if event.p >= 0 else delta_neg
    return delta / (delta + q)


def discriminative(event, b, eta):
    """Paper 2, Algorithm 1 and Eq. 9 with a_t = 1 / max(1, ||x||^2)."""
    q = abs(event.p) - eta / 2 * event.v / max(1.0, event.squared_length)
    return b / (b + max(q, 0.0))


def discriminative_unscaled(event, b, eta):
    """Paper 2, a_t = 1 (the names that end in -I)."""
    q = abs(event.p) - eta / 2 * event.v
    return b / (b + max(q, 0.0))


def entropy(event, epsilon):
    """Paper 5, Eq. 9 and 13, in bits."""
    positive = ndtr(event.p / np.sqrt(event.v + 1))
    tolerant = epsilon + (1 - 2 * epsilon) * np.array([positive, 1 - positive])
    return -sum(share * np.log2(share) for share in tolerant if share > 0)


def function_value(event, b):
    """Paper 5, section 6; paper 2 with a_t = 0."""
    return b / (b + abs(event.p))
