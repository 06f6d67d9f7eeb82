"""What each rule computes, as a formula, and what an event costs it; the pages of the algorithms put them together."""

from __future__ import annotations

from typing import NamedTuple


class Update(NamedTuple):
    """An update rule on paper."""

    formula: tuple[str, ...]
    """In TeX, a line each; p is the margin, y the answer, -1 or 1."""
    cost: str


HINGE = r"\ell = \max(0, 1 - y\,p)"
OF_PERCEPTRON = "O(nnz), and one number per feature"
OF_VARIANCES = "O(nnz), and two numbers per feature"
OF_COVARIANCE = "O(d nnz) to O(d²), and d² numbers"
SHRINK = r"S \leftarrow S - \frac{S x x^\top S}{\gamma + v}, \quad v = x^\top S x"
SKETCH = r"S = I - V^\top \operatorname{diag}\left(\frac{e_i}{1 + e_i}\right) V, \quad V \in \mathbb{R}^{m \times d}"
OJA = (
    r"e_i \leftarrow e_i + z_i^2, \quad V \leftarrow \text{orthonormal}\left(V + \tfrac{1}{k} z \hat{x}^\top\right), "
    r"\quad z = V \hat{x}, \ \hat{x} = x / \sqrt{\gamma}"
)
LARGER_STEP = r"\mu \leftarrow \mu + \eta\,\rho_y\,y\,S x \ \text{ if } 1 - y\,p > 0"

UPDATES = {
    "Perceptron": Update((r"w \leftarrow w + y\,x \ \text{ if } y\,p \le 0",), OF_PERCEPTRON),
    "UnevenMarginPerceptron": Update((r"w \leftarrow w + \eta\,y\,x \ \text{ if } y\,p \le \tau_y",), OF_PERCEPTRON),
    "PassiveAggressive": Update((r"w \leftarrow w + \frac{\ell}{\|x\|^2}\,y\,x", HINGE), OF_PERCEPTRON),
    "PassiveAggressive1": Update(
        (r"w \leftarrow w + \min\left(C, \frac{\ell}{\|x\|^2}\right) y\,x", HINGE), OF_PERCEPTRON
    ),
    "PassiveAggressive2": Update((r"w \leftarrow w + \frac{\ell}{\|x\|^2 + 1 / (2 C)}\,y\,x", HINGE), OF_PERCEPTRON),
    "CostSensitivePassiveAggressive": Update(
        (r"w \leftarrow w + \min\left(C, \frac{\ell}{\|x\|^2}\right) y\,x", r"\ell = \max(0, \rho_y - y\,p)"),
        OF_PERCEPTRON,
    ),
    "PredictionBasedPassiveAggressive": Update(
        (
            r"w \leftarrow w + \min\left(C, \frac{\ell}{\|x\|^2}\right) y\,x \ \text{ if } y\,p \le 0",
            r"\ell = |p| + \sqrt{\rho_y}",
        ),
        OF_PERCEPTRON,
    ),
    "SecondOrderPerceptron": Update(
        (
            r"p = s^\top (A + x x^\top)^{-1} x",
            r"s \leftarrow s + y\,x, \quad A \leftarrow A + x x^\top \ \text{ on a mistake; at first } A = a I",
        ),
        "O(d²), and d² numbers",
    ),
    "SecondOrderPerceptronDiagonal": Update(
        (
            r"p = \sum_i \frac{s_i x_i}{A_i + x_i^2}",
            r"s_i \leftarrow s_i + y\,x_i, \quad A_i \leftarrow A_i + x_i^2 \ \text{ on a mistake; at first } A_i = a",
        ),
        OF_VARIANCES,
    ),
    "ConfidenceWeighted": Update(
        (
            r"(\mu, S) \leftarrow \arg\min D_{KL}\left(\cdot \,\|\, (\mu, S)\right)",
            r"\text{such that } \ y\,\mu \cdot x \ge \varphi \sqrt{x^\top S x}",
        ),
        OF_VARIANCES,
    ),
    "DualAveraging": Update(
        (
            r"w_i = -\frac{\eta\,G_i}{H_i}, \quad H_i = \delta + \sqrt{\textstyle\sum g_i^2}",
            r"G \leftarrow G + g, \quad g = -y\,x \ \text{ if } 1 - y\,p > 0",
        ),
        "O(nnz), and four numbers per feature",
    ),
    "MirrorDescent": Update(
        (
            r"w_i \leftarrow w_i - \frac{\eta\,g_i}{H_i}, \quad H_i = \delta + \sqrt{\textstyle\sum g_i^2}",
            r"g = -y\,x \ \text{ if } 1 - y\,p > 0",
        ),
        "O(nnz), and three numbers per feature",
    ),
    "AdaptiveRegularization": Update(
        (SHRINK, r"\mu \leftarrow \mu + \eta\,y\,S x \ \text{ if } 1 - y\,p > 0"), OF_COVARIANCE
    ),
    "AdaptiveRegularizationDiagonal": Update(
        (
            r"S_i \leftarrow S_i - \frac{(S_i x_i)^2}{\gamma + v}, \quad v = \sum_j S_j x_j^2",
            r"\mu \leftarrow \mu + \eta\,y\,S x \ \text{ if } 1 - y\,p > 0",
        ),
        OF_VARIANCES,
    ),
    "CostSensitiveAdaptive": Update(
        (SHRINK, r"\mu \leftarrow \mu + \eta\,y\,S x \ \text{ if } \rho_y - y\,p > 0"), OF_COVARIANCE
    ),
    "AsymmetricAdaptive": Update((SHRINK, LARGER_STEP), OF_COVARIANCE),
    "AsymmetricAdaptiveDiagonal": Update(
        (r"\frac{1}{S_i} \leftarrow \frac{1}{S_i} + \frac{x_i^2}{\gamma}", LARGER_STEP), OF_VARIANCES
    ),
    "AsymmetricAdaptiveSketched": Update((SKETCH, OJA, LARGER_STEP), "O(m² d); m + 1 numbers per feature"),
    "AsymmetricAdaptiveSparseSketched": Update((SKETCH, OJA, LARGER_STEP), "O(m nnz + m³); m + 1 numbers per feature"),
    "PairwiseAdaptiveDiagonal": Update(
        (
            r"\ell_j = \max(0, 1 - y\,w \cdot (x - x_j)), \quad g = \frac{1}{m} \sum_j \ell_j (x - x_j)",
            r"\frac{1}{S_i} \leftarrow \frac{1}{S_i} + \frac{g_i^2}{\gamma}, \quad w \leftarrow w + \eta\,y\,S g",
        ),
        "O(B nnz) per answer, O(nnz) per prediction; two numbers per feature and 2 B answers",
    ),
    "Probit": Update(
        (
            r"z = \frac{y\,p}{\sqrt{v + 1}}, \quad r = \frac{\varphi(z)}{\Phi(z)}, \quad v = \sum_i S_i x_i^2",
            r"m \leftarrow m + \frac{y\,r}{\sqrt{v + 1}} S x, \quad S \leftarrow S - \frac{r (r + z)}{v + 1} (S x)^2",
        ),
        OF_VARIANCES,
    ),
}

CLOSE = r"P(\text{ask}) = \frac{\delta}{\delta + |p|}"
SURE_STEP = r"\frac{\gamma\,v}{\gamma + v}"

QUERIES = {
    "Always": (r"P(\text{ask}) = 1",),
    "Random": (r"P(\text{ask}) = \text{rate}",),
    "Margin": (CLOSE,),
    "FunctionValue": (r"P(\text{ask}) = \frac{b}{b + |p|}",),
    "MistakeDrivenMargin": (
        r"P(\text{ask}) = \frac{\delta_t}{\delta_t + |p|}, \quad \delta_t = \delta \sqrt{1 + k}",
        r"k = \text{wrong predictions among those answered before}",
    ),
    "DecreasingMargin": (r"P(\text{ask}) = \frac{\delta_t}{\delta_t + |p|}, \quad \delta_t = \frac{\delta}{t + 1}",),
    "AsymmetricMargin": (
        r"P(\text{ask}) = \frac{\delta_{\hat{y}}}{\delta_{\hat{y}} + |p|}, \quad \hat{y} = \operatorname{sign} p",
    ),
    "Discriminative": (
        r"P(\text{ask}) = \frac{b}{b + \max(0, q)}",
        r"q = |p| - \frac{\eta}{2} \frac{1}{\max(1, \|x\|^2)} \sum_i \frac{x_i^2}{H_i}",
    ),
    "DiscriminativeUnscaled": (
        r"P(\text{ask}) = \frac{b}{b + \max(0, q)}",
        r"q = |p| - \frac{\eta}{2} \sum_i \frac{x_i^2}{H_i}",
    ),
    "Variance": (
        r"P(\text{ask}) = \frac{\delta}{\delta + \max(0, q)}",
        rf"q = |p| - \frac{{\eta}}{{2}} {SURE_STEP}",
    ),
    "AsymmetricVariance": (
        r"P(\text{ask}) = \frac{\delta_{\hat{y}}}{\delta_{\hat{y}} + \max(0, q)}",
        r"\hat{y} = \operatorname{sign} p",
        rf"q = |p| - \frac{{\eta\,\max(1, \rho)}}{{2}} {SURE_STEP}",
    ),
    "Entropy": (
        r"P(\text{ask}) = H_2\left(\varepsilon + (1 - 2 \varepsilon)\, \Phi\left(\frac{p}{\sqrt{v + 1}}\right)\right)",
        r"H_2(q) = -q \log_2 q - (1 - q) \log_2 (1 - q)",
    ),
}
