"""How to learn from an answer: one class per rule, the formulas of the papers on whole vectors and matrices.

A rule for two classes has `margin(x)`, `variance(x)` and `update(x, y, weight)` with y = -1 or +1; a rule
with one weight vector per class has the same methods and `scores(x)`, with y the index of the class.
`weights()` is what a prediction multiplies x with.

`jumps` are the values of |p| at which an infinitely small change of the margin changes what is learned by a
finite amount: there, as at p = 0, rounding alone may decide.
"""

import numpy as np
from scipy.special import erfcx


def sign(p):
    return 1 if p >= 0 else -1


class Rule:
    """A rule for two classes. Without a second-order state it has no variance."""

    jumps: tuple = ()
    threshold = 0.0  # what is taken from w.x

    def variance(self, x):
        return np.nan


class Linear(Rule):
    """p = w.x."""

    def __init__(self, d):
        self.w = np.zeros(d)

    def margin(self, x):
        return self.w @ x

    def weights(self):
        return self.w[None, :]


class Perceptron(Linear):
    """Paper 1, section 3.1."""

    def update(self, x, y, weight):
        if sign(self.margin(x)) != y:
            self.w += y * x


class PassiveAggressive(Linear):
    """Paper 1, Eq. 1 (PA)."""

    def step(self, loss, squared_length):
        return loss / squared_length

    def update(self, x, y, weight):
        loss = max(0.0, 1.0 - y * self.margin(x))
        self.w += self.step(loss, x @ x) * y * x


class PassiveAggressive1(PassiveAggressive):
    """Paper 1, Eq. 1 (PA-I)."""

    def __init__(self, d, C):
        super().__init__(d)
        self.C = C

    def step(self, loss, squared_length):
        return min(self.C, loss / squared_length)


class PassiveAggressive2(PassiveAggressive1):
    """Paper 1, Eq. 1 (PA-II)."""

    def step(self, loss, squared_length):
        return loss / (squared_length + 1.0 / (2.0 * self.C))


class CostSensitivePassiveAggressive(Linear):
    """Paper 1, Eq. 9 and 11; divided by ||x||^2, which the paper takes to be one."""

    def __init__(self, d, C, rho):
        super().__init__(d)
        self.C, self.rho = C, {1: rho, -1: 1.0}

    def update(self, x, y, weight):
        loss = max(0.0, self.rho[y] - y * self.margin(x))
        self.w += min(self.C, loss / (x @ x)) * y * x


class PredictionBasedPassiveAggressive(CostSensitivePassiveAggressive):
    """Paper 1, section 6.3.2, after Crammer et al. (2006): gap of the scores plus root of the cost."""

    def update(self, x, y, weight):
        p = self.margin(x)
        if sign(p) != y:
            loss = abs(p) + np.sqrt(self.rho[y])
            self.w += min(self.C, loss / (x @ x)) * y * x


class UnevenMarginPerceptron(Linear):
    """Paper 1, section 6.3.2, after Li et al. (2002)."""

    def __init__(self, d, tau_pos, tau_neg, eta):
        super().__init__(d)
        self.tau, self.eta, self.jumps = {1: tau_pos, -1: tau_neg}, eta, (tau_pos, tau_neg)

    def update(self, x, y, weight):
        if y * self.margin(x) <= self.tau[y]:
            self.w += self.eta * y * x


class SecondOrderPerceptron(Rule):
    """Paper 1 (SEL-2nd), after Cesa-Bianchi et al. (2005): p = s'(A + xx')^-1 x, the event included."""

    def __init__(self, d, a):
        self.s, self.A = np.zeros(d), a * np.eye(d)

    def margin(self, x):
        return self.s @ np.linalg.solve(self.A + np.outer(x, x), x)

    def update(self, x, y, weight):
        if sign(self.margin(x)) != y:
            self.s += y * x
            self.A += np.outer(x, x)

    def weights(self):
        return np.linalg.solve(self.A, self.s)[None, :]


class SecondOrderPerceptronDiagonal(Rule):
    """The same with the diagonal of A only (paper 2, section 5.2)."""

    def __init__(self, d, a):
        self.s, self.A = np.zeros(d), np.full(d, float(a))

    def margin(self, x):
        return np.sum(self.s * x / (self.A + x**2))

    def update(self, x, y, weight):
        if sign(self.margin(x)) != y:
            self.s += y * x
            self.A += x**2

    def weights(self):
        return (self.s / self.A)[None, :]


class ConfidenceWeighted(Rule):
    """CW-diag of paper 1: the exact convex form of Crammer, Dredze, Pereira (2008), diagonal covariance.

    Contradicting labels square the variances again and again; they stop before they underflow.
    """

    def __init__(self, d, phi):
        self.mu, self.sigma, self.phi = np.zeros(d), np.ones(d), phi

    def margin(self, x):
        return self.mu @ x

    def variance(self, x):
        return x @ (self.sigma * x)

    def update(self, x, y, weight):
        phi, m, v = self.phi, y * self.margin(x), self.variance(x)
        psi, zeta = 1 + phi**2 / 2, 1 + phi**2
        alpha = max(0.0, (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta))
        if alpha > 0:
            a = alpha * v * phi
            root_u = 2 * v / (a + np.sqrt(a**2 + 4 * v))  # = (-a + sqrt(a^2 + 4 v)) / 2
            self.mu += alpha * y * self.sigma * x
            self.sigma = np.maximum(1e-290, 1 / (1 / self.sigma + alpha * phi * x**2 / root_u))

    def weights(self):
        return self.mu[None, :]


class AdaptiveRegularization(Rule):
    """Paper 3, Eq. 1 and 3."""

    jumps = (1.0,)

    def __init__(self, d, eta, gamma):
        self.mu, self.Sigma, self.eta, self.gamma = np.zeros(d), np.eye(d), eta, gamma
        self.rho_of = {1: 1.0, -1: 1.0}

    def margin(self, x):
        return self.mu @ x

    def variance(self, x):
        return x @ self.Sigma @ x

    def update(self, x, y, weight):
        if 1 - y * self.margin(x) > 0:
            Sx = self.Sigma @ x
            self.Sigma = self.Sigma - np.outer(Sx, Sx) / (self.gamma + x @ Sx)
            self.mu += self.eta * self.rho_of[y] * y * self.Sigma @ x

    def weights(self):
        return self.mu[None, :]


class AdaptiveRegularizationDiagonal(AdaptiveRegularization):
    """Paper 3, Eq. 4 and 5: the diagonal of the full step, one denominator for all coordinates."""

    def __init__(self, d, eta, gamma):
        self.mu, self.sigma, self.eta, self.gamma = np.zeros(d), np.ones(d), eta, gamma

    def variance(self, x):
        return x @ (self.sigma * x)

    def update(self, x, y, weight):
        if 1 - y * self.margin(x) > 0:
            self.sigma = self.sigma - (self.sigma * x) ** 2 / (self.gamma + self.variance(x))
            self.mu += self.eta * y * self.sigma * x


class AdaptiveRegularizationAlongOld(AdaptiveRegularization):
    """Paper 3, Eq. 1 and 2: the mean moves along the old covariance."""

    def update(self, x, y, weight):
        if 1 - y * self.margin(x) > 0:
            Sx = self.Sigma @ x
            self.mu += self.eta * y * Sx
            self.Sigma = self.Sigma - np.outer(Sx, Sx) / (self.gamma + x @ Sx)


class AdaptiveRegularizationDiagonalAlongOld(AdaptiveRegularizationDiagonal):
    """Paper 3, Eq. 4, and Eq. 5 with the old variances."""

    def update(self, x, y, weight):
        if 1 - y * self.margin(x) > 0:
            self.mu += self.eta * y * self.sigma * x
            self.sigma = self.sigma - (self.sigma * x) ** 2 / (self.gamma + self.variance(x))


class CostSensitiveAdaptive(AdaptiveRegularization):
    """SOAL-CS of paper 4: SOAL with the loss max(0, rho_y - y p)."""

    def __init__(self, d, eta, gamma, rho):
        super().__init__(d, eta, gamma)
        self.margin_of, self.jumps = {1: rho, -1: 1.0}, (1.0, rho)

    def update(self, x, y, weight):
        if self.margin_of[y] - y * self.margin(x) > 0:
            Sx = self.Sigma @ x
            self.Sigma = self.Sigma - np.outer(Sx, Sx) / (self.gamma + x @ Sx)
            self.mu += self.eta * y * self.Sigma @ x


class AsymmetricAdaptive(AdaptiveRegularization):
    """Paper 4, Algorithm 2: the mean of the positive class moves rho times as far."""

    def __init__(self, d, eta, gamma, rho):
        super().__init__(d, eta, gamma)
        self.rho_of = {1: rho, -1: 1.0}


class AsymmetricAdaptiveDiagonal(AsymmetricAdaptive):
    """OA3-diag as its authors released it: the diagonal of Eq. 7, a denominator per coordinate."""

    def __init__(self, d, eta, gamma, rho):
        self.mu, self.sigma, self.eta, self.gamma = np.zeros(d), np.ones(d), eta, gamma
        self.rho_of = {1: rho, -1: 1.0}

    def variance(self, x):
        return x @ (self.sigma * x)

    def update(self, x, y, weight):
        if 1 - y * self.margin(x) > 0:
            self.sigma = 1 / (1 / self.sigma + x**2 / self.gamma)
            self.mu += self.eta * self.rho_of[y] * y * self.sigma * x


class PairwiseAdaptiveDiagonal(AsymmetricAdaptiveDiagonal):
    """OA3-diag's step along the gradient of the squared hinge loss over pairs with a buffer of the other class."""

    def __init__(self, d, eta, gamma, buffer_size, weighted=False):
        super().__init__(d, eta, gamma, rho=1.0)
        self.buffers, self.totals, self.size = {-1: [], 1: []}, {-1: 0.0, 1: 0.0}, buffer_size
        self.weighted, self.drawn, self.threshold = weighted, 1, 0.0

    def margin(self, x):
        return self.mu @ x - self.threshold

    def draw(self):
        self.drawn = 48271 * self.drawn % (2**31 - 1)
        return self.drawn / (2**31 - 1)

    def update(self, x, y, weight):
        h = weight if self.weighted else 1.0
        own, others = self.buffers[y], np.array(self.buffers[-y])
        if len(others):
            losses = np.maximum(0, 1 - y * (self.mu @ x - others @ self.mu))
            g = np.mean(losses[:, None] * (x - others), axis=0)
            self.sigma = 1 / (1 / self.sigma + h * g**2 / self.gamma)
            self.mu += self.eta * h * y * self.sigma * g
        self.totals[y] += h
        if len(own) < self.size:
            own.append(x)
        elif self.draw() < self.size * h / self.totals[y]:
            own[int(self.draw() * self.size)] = x
        if len(others):
            self.threshold = (np.mean(others @ self.mu) + np.mean(np.array(own) @ self.mu)) / 2


def gram_schmidt(F, K):
    """Orthonormal rows under <f, g> = f K g', in row order."""
    F = F.copy()
    for i, f in enumerate(F):
        for g in F[:i]:
            f -= (f @ K @ g) * g
        f /= np.sqrt(f @ K @ f)
    return F


def first_sketch(sketch_size, d, sketch_seed):
    """V_0: seeded random rows, orthonormalised."""
    rows = np.random.default_rng(sketch_seed).standard_normal((min(sketch_size, d), d))
    return gram_schmidt(rows, np.eye(d))


class AsymmetricAdaptiveSketched(Rule):
    """Paper 4, Algorithms 4 to 6 (SOA3), with a dense V; k is the sketch's own clock."""

    jumps = (1.0,)

    def __init__(self, d, eta, gamma, rho, sketch_size=5, sketch_seed=0):
        self.eta, self.gamma, self.rho_of = eta, gamma, {1: rho, -1: 1.0}
        self.mu, self.V, self.k = np.zeros(d), first_sketch(sketch_size, d, sketch_seed), 0
        self.eigenvalues = np.zeros(len(self.V))  # the diagonal of Lambda

    def kept(self):
        """The diagonal of k Lambda H, so that S'HS = V' diag(kept) V (Eq. 17)."""
        return self.k * self.eigenvalues / (1 + self.k * self.eigenvalues)

    def margin(self, x):
        return self.mu @ x

    def variance(self, x):
        return x @ x - self.kept() @ (self.V @ x) ** 2  # Eq. 18

    def update(self, x, y, weight):
        loss, x_hat = 1 - y * self.margin(x), x / np.sqrt(self.gamma)
        self.k += 1
        z = self.V @ x_hat
        self.eigenvalues = (1 - 1 / self.k) * self.eigenvalues + z**2 / self.k  # Eq. 15
        self.V = gram_schmidt(self.V + np.outer(z, x_hat) / self.k, np.eye(len(x)))  # Eq. 16
        if loss > 0:
            g = -self.rho_of[y] * y * x
            self.mu -= self.eta * (g - self.V.T @ (self.kept() * (self.V @ g)))  # Eq. 14

    def weights(self):
        return self.mu[None, :]


class AsymmetricAdaptiveBlockSketched(AsymmetricAdaptiveSketched):
    """SOA3 whose directions turn every so many rounds (the remark after Algorithm 5): in between they stand still."""

    def __init__(self, d, eta, gamma, rho, sketch_size=5, sketch_seed=0, sketch_every=5):
        super().__init__(d, eta, gamma, rho, sketch_size, sketch_seed)
        self.every, self.waiting, self.turns = sketch_every, 0, np.zeros_like(self.V)

    def update(self, x, y, weight):
        loss, x_hat = 1 - y * self.margin(x), x / np.sqrt(self.gamma)
        self.k += 1
        z = self.V @ x_hat
        self.eigenvalues = (1 - 1 / self.k) * self.eigenvalues + z**2 / self.k
        self.turns += np.outer(z, x_hat) / self.k
        self.waiting += 1
        if self.waiting == self.every:
            self.V = gram_schmidt(self.V + self.turns, np.eye(len(x)))
            self.waiting, self.turns = 0, np.zeros_like(self.V)
        if loss > 0:
            g = -self.rho_of[y] * y * x
            self.mu -= self.eta * (g - self.V.T @ (self.kept() * (self.V @ g)))


class AsymmetricAdaptiveSparseSketched(AsymmetricAdaptiveSketched):
    """Paper 4, Algorithm 7 (SSOA3): V = FU and mu = mu_bar + U'b, so that one event moves few columns.

    Two repairs: mu_bar makes up for the move of U on an answer without loss too (line 16 as printed changes
    mu), and F, U and b are folded when the Gram matrix K grows, before Gram-Schmidt loses its digits.
    """

    def __init__(self, d, eta, gamma, rho, sketch_size=5, sketch_seed=0):
        self.eta, self.gamma, self.rho_of, self.k = eta, gamma, {1: rho, -1: 1.0}, 0
        self.U = first_sketch(sketch_size, d, sketch_seed)
        m = len(self.U)
        self.F, self.K, self.eigenvalues = np.eye(m), np.eye(m), np.zeros(m)
        self.mu_bar, self.b = np.zeros(d), np.zeros(m)

    def margin(self, x):
        return self.mu_bar @ x + self.b @ (self.U @ x)

    def variance(self, x):
        return x @ x - self.kept() @ (self.F @ self.U @ x) ** 2

    def update(self, x, y, weight):
        loss, x_hat = 1 - y * self.margin(x), x / np.sqrt(self.gamma)
        self.k += 1
        a = self.U @ x_hat
        self.eigenvalues = (1 - 1 / self.k) * self.eigenvalues + (self.F @ a) ** 2 / self.k
        delta = np.linalg.solve(self.F, self.F @ a / self.k)
        self.K = self.K + np.outer(a, delta) + np.outer(delta, a) + x_hat @ x_hat * np.outer(delta, delta)
        self.U = self.U + np.outer(delta, x_hat)
        self.F = gram_schmidt(self.F, self.K)
        self.mu_bar -= x_hat * (delta @ self.b)
        if loss > 0:
            g = -self.rho_of[y] * y * x
            self.mu_bar -= self.eta * g
            self.b = self.b + self.eta * self.F.T @ (self.kept() * (self.F @ self.U @ g))
        if np.abs(self.K).max() > 1e4:
            self.mu_bar += self.U.T @ self.b
            self.b = np.zeros_like(self.b)
            self.U = gram_schmidt(self.F @ self.U, np.eye(len(x)))
            self.F = self.K = np.eye(len(self.U))

    def weights(self):
        return (self.mu_bar + self.U.T @ self.b)[None, :]


class DualAveraging(Rule):
    """Paper 2, Eq. 1: w = -eta H^-1 (sum of all gradients), H = delta + root of the sum of their squares."""

    jumps = (1.0,)

    def __init__(self, d, eta, delta):
        self.eta, self.delta, self.G, self.q, self.w = eta, delta, np.zeros(d), np.zeros(d), np.zeros(d)

    def H(self):
        return self.delta + np.sqrt(self.q)

    def margin(self, x):
        return self.w @ x

    def variance(self, x):
        return np.sum(x**2 / self.H(), axis=-1)

    def move(self, g):
        self.w = -self.eta * self.G / self.H()

    def update(self, x, y, weight):
        if 1 - y * self.margin(x) > 0:
            g = -y * x
            self.G, self.q = self.G + g, self.q + g**2
            self.move(g)

    def weights(self):
        return self.w[None, :]


class MirrorDescent(DualAveraging):
    """Paper 2, Eq. 2: w moves by the last gradient only."""

    def move(self, g):
        self.w = self.w - self.eta * g / self.H()


class Probit(Rule):
    """Paper 5, Eq. 7, 8, 11 and 12 with a diagonal covariance and the memory factor of section 3.2.

    The whole prior is raised to the power of the memory factor, so that features which an event does not have
    forget as well. delta has 1/(v + 1) where the paper prints 1/sqrt(v + 1). The paper has no largest variance.
    local_decay is not the paper's: a further factor, for the features that the event has; alone it stops at the prior's
    variance.
    """

    weighted = True

    def __init__(self, d, prior_variance, decay, local_decay=1.0, max_variance_ratio=1e12):
        self.m, self.S = np.zeros(d), np.full(d, float(prior_variance))
        self.decay, self.local_decay = decay, local_decay
        self.largest = prior_variance * (max_variance_ratio if decay < 1 else 1.0)

    def margin(self, x):
        return self.m @ x

    def variance(self, x):
        return x @ (self.S * x)

    def update(self, x, y, weight):
        beta = weight if self.weighted else 1.0
        gamma = self.decay * np.where(x != 0, self.local_decay, 1.0)
        spread = self.variance(x) + 1
        z = y * self.margin(x) / np.sqrt(spread)
        r = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))  # N(z) / Phi(z)
        alpha, delta = y * r / np.sqrt(spread), r * (r + z) / spread
        S1, m1 = self.S - delta * (self.S * x) ** 2, self.m + alpha * self.S * x
        precision = beta / S1 + (gamma - beta) / self.S
        self.m = (beta * m1 / S1 + (gamma - beta) * self.m / self.S) / precision
        self.S = np.minimum(self.largest, 1 / precision)

    def weights(self):
        return self.m[None, :]


class ProbitBiased(Probit):
    """Section 6: the selected events are equally weighted."""

    weighted = False


class ProbitFull(Rule):
    """Paper 5, Eq. 7, 8, 11 and 12 with a full covariance, without forgetting."""

    weighted = True

    def __init__(self, d, prior_variance):
        self.m, self.S = np.zeros(d), prior_variance * np.eye(d)

    def margin(self, x):
        return self.m @ x

    def variance(self, x):
        return x @ self.S @ x

    def update(self, x, y, weight):
        beta = weight if self.weighted else 1.0
        spread = self.variance(x) + 1
        z = y * self.margin(x) / np.sqrt(spread)
        r = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))  # N(z) / Phi(z)
        alpha, delta = y * r / np.sqrt(spread), r * (r + z) / spread
        Sx = self.S @ x
        m1, S1 = self.m + alpha * Sx, self.S - delta * np.outer(Sx, Sx)
        prior, matched = np.linalg.inv(self.S), np.linalg.inv(S1)
        S_new = np.linalg.inv(prior + beta * (matched - prior))
        self.m = S_new @ (beta * matched @ m1 + (1 - beta) * prior @ self.m)
        self.S = (S_new + S_new.T) / 2

    def weights(self):
        return self.m[None, :]


class ProbitFullBiased(ProbitFull):
    weighted = False


class PerClass:
    """One weight vector per class (papers 1 and 2, section 4); p = best minus second-best score."""

    jumps: tuple = ()
    threshold = 0.0

    def __init__(self, d, classes):
        self.W = np.zeros((classes, d))

    def scores(self, x):
        return self.W @ x

    def margin(self, x):
        second, best = np.sort(self.scores(x))[-2:]
        return best - second

    def variance(self, x):
        return np.nan

    def rival(self, scores, y):
        """The best of the other classes, the lowest index of equals."""
        return int(np.argmax(np.where(np.arange(len(scores)) == y, -np.inf, scores)))

    def update(self, x, y, weight):
        scores = self.scores(x)
        rival = self.rival(scores, y)
        self.learn(x, y, rival, max(0.0, 1 - (scores[y] - scores[rival])), np.argmax(scores))

    def weights(self):
        return self.W


class MPerceptron(PerClass):
    """Paper 1, section 4.1, max-score variant."""

    def learn(self, x, y, rival, loss, predicted):
        if predicted != y:
            self.W[y] += x
            self.W[predicted] -= x


class MPassiveAggressive(PerClass):
    """Paper 1, Eq. 3 and 4: the binary step of a vector twice as long."""

    def __init__(self, d, classes):
        super().__init__(d, classes)
        self.step = PassiveAggressive(0).step

    def learn(self, x, y, rival, loss, predicted):
        tau = self.step(loss, 2 * (x @ x))
        self.W[y] += tau * x
        self.W[rival] -= tau * x


class MPassiveAggressive1(MPassiveAggressive):
    def __init__(self, d, classes, C):
        super().__init__(d, classes)
        self.step = PassiveAggressive1(0, C).step


class MPassiveAggressive2(MPassiveAggressive):
    def __init__(self, d, classes, C):
        super().__init__(d, classes)
        self.step = PassiveAggressive2(0, C).step


class MDualAveraging(PerClass):
    """Paper 2, Eq. 5: a matrix H per class."""

    jumps = (1.0,)

    def __init__(self, d, classes, eta, delta):
        super().__init__(d, classes)
        self.eta, self.delta = eta, delta
        self.G, self.q = np.zeros((classes, d)), np.zeros((classes, d))

    def H(self):
        return self.delta + np.sqrt(self.q)

    def variance(self, x):
        """Eq. 8: of the predicted class, and the largest of the others."""
        each = np.sum(x**2 / self.H(), axis=1)
        predicted = np.argmax(self.scores(x))
        return each[predicted] + np.delete(each, predicted).max()

    def move(self, g):
        self.W = -self.eta * self.G / self.H()

    def learn(self, x, y, rival, loss, predicted):
        if loss > 0:
            g = np.zeros_like(self.W)
            g[y], g[rival] = -x, x
            self.G, self.q = self.G + g, self.q + g**2
            self.move(g)


class Costly(MDualAveraging):
    """Mistakes cost C[y, r], in units of the cheapest; the loss of a rival r is C[y, r] max(0, 1 - (s_y - s_r))."""

    def __init__(self, d, classes, eta, delta, C):
        super().__init__(d, classes, eta, delta)
        self.C = C / C[C > 0].min()

    def update(self, x, y, weight):
        scores = self.scores(x)
        losses = self.C[y] * np.maximum(0, 1 - (scores[y] - scores))  # 0 for y itself, as C[y, y] is
        if losses.max() > 0:
            rival = np.argmax(losses)
            g = np.zeros_like(self.W)
            g[y], g[rival] = -self.C[y, rival] * x, self.C[y, rival] * x
            self.G, self.q = self.G + g, self.q + g**2
            self.move(g)


class MMirrorDescent(MDualAveraging):
    """Paper 2, Eq. 6."""

    def move(self, g):
        self.W = self.W - self.eta * g / self.H()


class CostlyMirrorDescent(Costly):
    """The same with the step of Eq. 6."""

    move = MMirrorDescent.move


class CostlyOfTwo(DualAveraging):
    """Two classes and one vector: the gradient of an event weighs what missing it costs."""

    def __init__(self, d, eta, delta, missed, false_alarm):
        super().__init__(d, eta, delta)
        self.missed, self.false_alarm = (cost / min(missed, false_alarm) for cost in (missed, false_alarm))

    def update(self, x, y, weight):
        if 1 - y * self.margin(x) > 0:
            g = -y * (self.missed if y > 0 else self.false_alarm) * x
            self.G, self.q = self.G + g, self.q + g**2
            self.move(g)


class CostlyMirrorDescentOfTwo(CostlyOfTwo):
    """The same with the step of Eq. 2."""

    move = MirrorDescent.move
