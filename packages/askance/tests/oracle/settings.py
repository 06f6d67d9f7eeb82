"""Three values for every parameter the named algorithms have, so that a test can play any of them."""

from .presets import parameters_of

VALUES = {
    "C": (1.0, 0.1, 5.0),
    "a": (1.0, 0.3, 10.0),
    "b": (0.5, 2.0, 0.05),
    "buffer_size": (3, 1, 20),
    "decay": (1.0, 0.999, 0.95),
    "delta": (0.3, 1.0, 0.05),
    "delta_neg": (0.1, 1.0, 0.5),
    "delta_pos": (1.0, 0.3, 10.0),
    "epsilon": (0.05, 0.001, 0.2),
    "eta": (0.5, 1.0, 0.125),
    "gamma": (1.0, 0.2, 10.0),
    "local_decay": (1.0, 0.95, 1.0),
    "max_variance_ratio": (1.0, 1.0, 1e12),
    "phi": (0.3, 0.1, 1.0),
    "prior_variance": (1.0, 0.25, 4.0),
    "rate": (0.3, 0.7, 0.1),
    "rho": (4.0, 0.5, 3.0),
    "sketch_size": (5, 2, 8),
    "tau_neg": (0.1, 1.0, 0.0),
    "tau_pos": (0.7, 2.0, 0.0),
}


def settings_of(name, which=0):
    """The parameters of a preset; `which` (any whole number) picks among the three values."""
    return {parameter: VALUES[parameter][which % 3] for parameter in parameters_of(name) if parameter in VALUES}
