"""How good a model is: metrics of known labels, estimates from the requested ones, calibration, drift."""
