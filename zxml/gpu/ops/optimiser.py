"""The optimiser's step over all parameters at once (kernels/ops/update.cl)."""

from __future__ import annotations

from zxml.gpu.ops.workspace import Op, Workspace

AVERAGE_STEPS = 500  # steps that the parameters' running average reaches back


def update(space: Workspace, optimiser: str, momentum: float) -> Op:
    """Return the operation; optimiser: "adam" or "sgd", with momentum. The rates are in `space.rates`, see gpu/schedule.py."""
    macros = {"ADAM": int(optimiser == "adam"), "MOMENTUM": momentum, "BATCH": float(space.batch), "MEMORY": 1 / AVERAGE_STEPS}
    make = space.maker("update", macros)
    given = (space.grads, space.step_sizes, space.limits, space.decays, space.rates, space.state)
    kept = (space.params, space.first, space.second, space.average)
    return Op((make("update", (*given, *kept), (space.count,)), make("next_step", (space.state,), (1,))))
