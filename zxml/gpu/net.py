"""What the training kernels need to know of a two-layer net: sizes, and the arithmetic of the machine or plain real numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zxml.quant.fake import SAFE_PART
from zxml.quant.params import BIAS_LIMIT, logit_scale, param_limits, weight_limit
from zxml.spec import ModelSpec

LANES = 16  # units a vector holds
FREE = 1e30  # the limit of a weight that has none

Macros = dict[str, int | float | str]


@dataclass(frozen=True)
class FloatSpec:
    """A plain net in real numbers: rows x cols pixels, rectified units, scores; no rounding, no range, no decay.

    grey: pixels are 0 to 255 and count as value / 255; else they are 0 or 1.
    """

    rows: int
    cols: int
    grey: bool
    units: int = 64
    classes: int = 10
    batch: int = 128
    optimiser: str = "sgd"
    learning_rate: float = 0.05
    momentum: float = 0.9
    seed: int = 1


@dataclass(frozen=True)
class Net:
    """A two-layer net as the kernels see it.

    arithmetic: the macros that say what the net computes; rounded: whether weights are rounded where they are used.
    """

    rows: int
    cols: int
    units: int
    classes: int
    batch: int
    optimiser: str
    rounded: bool
    grey: bool
    arithmetic: Macros = field(repr=False)

    @property
    def pixels(self) -> int:
        """How many pixels the net looks at."""
        return self.rows * self.cols

    @property
    def sum_type(self) -> Any:
        """The NumPy type of hidden sums, and of the weights they are made of, on the device."""
        return {"short": np.int16, "int": np.int32, "float": np.float32}[str(self.arithmetic["SUM"])]

    def macros(self, lanes: int, class_lanes: int) -> Macros:
        """Return the macros that every training kernel needs, with units and classes filled up to so many lanes."""
        return self.arithmetic | {
            "PIXELS": self.pixels,
            "ROWS": self.rows,
            "COLS": self.cols,
            "HIDDEN": self.units,
            "HIDDEN_BLOCKS": lanes // LANES,
            "CLASSES": self.classes,
            "CLASS_BLOCKS": class_lanes // LANES,
            "BATCH": self.batch,
            "ADAM" if self.optimiser == "adam" else "SGD": 1,
        }


def net_of(spec: ModelSpec | FloatSpec) -> Net:
    """Return what the kernels need to know of a spec."""
    return _float_net(spec) if isinstance(spec, FloatSpec) else _integer_net(spec)


def padded(units: int) -> int:
    """Return the lanes that units need: the next multiple of 16."""
    return -(-units // LANES) * LANES


def sums_fit_16_bits(spec: ModelSpec) -> bool:
    """Return whether no hidden sum, before it wraps, can leave 16 bits."""
    pixels = spec.input.rows * spec.input.cols
    return pixels * weight_limit(spec.hidden.weight_bits) + BIAS_LIMIT < 1 << 15


def _integer_net(spec: ModelSpec) -> Net:
    window, hidden, training = spec.input, spec.hidden, spec.training
    limits = param_limits(spec)
    arithmetic: Macros = {
        "SUM": "short" if sums_fit_16_bits(spec) else "int",
        "SHIFT": hidden.shift,
        "LEVELS": hidden.levels,
        "LOGIT_SCALE": logit_scale(spec),
        "HALF_RANGE": 2.0 ** (hidden.sum_bits - 1),
        "SAFE_PART": SAFE_PART,
        "RANGE_PENALTY": training.range_penalty,
        "MOMENTUM": training.momentum,
        "HIDDEN_STEP": hidden.weight_step,
        "OUTPUT_STEP": spec.output.weight_step,
        "HIDDEN_LIMIT": limits["hidden"],
        "OUTPUT_LIMIT": limits["output"],
        "BIAS_LIMIT": float(BIAS_LIMIT),
    }
    units, classes = hidden.units, spec.output.units
    return Net(window.rows, window.cols, units, classes, training.batch, training.optimiser, True, False, arithmetic)


def _float_net(spec: FloatSpec) -> Net:
    arithmetic: Macros = {
        "FLOAT_NET": 1,
        "SUM": "float",
        "LOGIT_SCALE": 1.0,
        "MOMENTUM": spec.momentum,
        "HIDDEN_STEP": 1.0,
        "OUTPUT_STEP": 1.0,
        "HIDDEN_LIMIT": FREE,
        "OUTPUT_LIMIT": FREE,
        "BIAS_LIMIT": FREE,
        **({"GREY": 1} if spec.grey else {}),
    }
    return Net(spec.rows, spec.cols, spec.units, spec.classes, spec.batch, spec.optimiser, False, spec.grey, arithmetic)
