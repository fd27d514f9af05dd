"""What is published: the boxes that are printed, and the curves of the figures at epsilon 1, 4 and 8.

The figures print no numbers. The curves are those of the authors' result files
(github.com/ZhengYeah/QCU-LDP, MIT), which the figures were drawn from: the bound, and shares of
draws. Laplace there counts a report outside [0, 1] as a changed prediction.
"""

from __future__ import annotations

__all__ = ["BANK", "BOUNDS", "DRAWN", "DRAWS", "EPSILONS", "STROKE"]

EPSILONS = (1.0, 4.0, 8.0)

STROKE = {
    "logistic regression": ((0.63, 1.0), (0.0, 1.0)),
    "random forest": ((0.5, 1.0), (0.0, 0.62)),
}
"""The robustness hyperrectangles of the record of age 79 and BMI 24: of age, and of BMI."""

BANK = {"logistic regression": ((0.0, 0.72), (0.0, 1.0))}
"""Of the record of age 22 and salary 101,348: of age, and of salary."""

DRAWS = 2000
"""So many draws a point of a curve has, as the text says."""

BOUNDS = {
    ("stroke", "logistic regression"): {"PM": (0.5959, 0.9150, 0.9885)},
    ("stroke", "random forest"): {"PM": (0.5007, 0.8844, 0.9839)},
    ("bank", "logistic regression"): {"PM": (0.8595, 0.9686, 0.9958)},
    ("bank", "random forest"): {"PM": (0.6814, 0.9288, 0.9904)},
}
"""The bound that the thesis calls theoretical, without the privacy indicator."""

DRAWN = {
    ("stroke", "logistic regression"): {
        "PM": (0.580, 0.917, 0.989),
        "Exponential": (0.451, 0.668, 0.837),
        "Laplace": (0.107, 0.456, 0.748),
    },
    ("stroke", "random forest"): {
        "PM": (0.636, 0.907, 0.983),
        "Exponential": (0.520, 0.720, 0.870),
        "Laplace": (0.127, 0.504, 0.772),
    },
    ("bank", "logistic regression"): {
        "PM": (0.852, 0.971, 0.996),
        "Exponential": (0.824, 0.954, 0.995),
        "Laplace": (0.195, 0.654, 0.892),
    },
    ("bank", "random forest"): {
        "PM": (0.870, 0.964, 0.994),
        "Exponential": (0.806, 0.854, 0.919),
        "Laplace": (0.197, 0.589, 0.819),
    },
}
"""The shares of draws that the thesis calls empirical."""
