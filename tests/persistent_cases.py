"""Runs persistent trainings and checks them: a process of its own, so that PoCL can be given a thread for each group."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pyopencl as cl
import pytest

from tests.gpu_cases import assert_near, make_case, run_case
from zxml import data
from zxml.bench_steps import PARTS, measure_net
from zxml.gpu import persistent
from zxml.gpu.backends import Choice, choose_backend
from zxml.gpu.device import choose
from zxml.gpu.net import FloatSpec, net_of
from zxml.gpu.nets.shape import NetShape
from zxml.gpu.persistent import PersistentStep, plan_layout, why_groups_do_not_meet
from zxml.gpu.trainer import train
from zxml.spec import DistortSpec, HiddenSpec, InputSpec, ModelSpec, OutputSpec, TrainingSpec

SPECS: dict[str, ModelSpec | FloatSpec] = {
    "adam": FloatSpec(28, 28, False, units=3, optimiser="adam", learning_rate=0.01),
    "bits": FloatSpec(16, 16, False, units=4),
    "one row": FloatSpec(1, 7, False, units=2, classes=3, batch=32),
    "integer": ModelSpec(hidden=HiddenSpec(units=3), training=TrainingSpec(batch=64, weight_decay=0.01)),
    "large batch": ModelSpec(hidden=HiddenSpec(units=3), training=TrainingSpec(batch=512, optimiser="sgd")),
    "small window": ModelSpec(
        input=InputSpec(2, 3, 7, 5), output=OutputSpec(units=23), hidden=HiddenSpec(units=2), training=TrainingSpec(batch=96)
    ),
}


def check_steps(name: str) -> None:
    """Compare three steps with the oracle, and a second run with the first."""
    case = make_case([SPECS[name]], steps=3)
    params, losses = run_case(case, "persistent")
    assert_near(case, params, losses)
    again = run_case(case, "persistent")[0][0]
    for (field, array), (_, other) in zip(params[0].items(), again.items(), strict=True):
        np.testing.assert_array_equal(array, other, err_msg=field)


def check_launches() -> None:
    """The steps of an epoch may be cut into launches anywhere."""
    case = make_case([SPECS["bits"]], steps=3)
    whole = run_case(case, "persistent")[0][0]
    persistent.STEPS_A_LAUNCH = 2
    np.testing.assert_array_equal(run_case(case, "persistent")[0][0].hidden, whole.hidden)


def check_memory() -> None:
    """The local memory that is planned is what the kernel takes, but for a few bytes."""
    queue = cl.CommandQueue(cl.Context([choose()]))
    for spec in (SPECS["adam"], SPECS["large batch"]):
        buffer = cl.Buffer(queue.context, cl.mem_flags.READ_ONLY, 4096)
        step = PersistentStep(queue, spec, buffer, np.zeros(1, np.uint8), 1)
        taken = step.kernel.get_work_group_info(cl.kernel_work_group_info.LOCAL_MEM_SIZE, queue.device)
        assert taken <= plan_layout(queue.device, net_of(spec)).nbytes <= taken + 256, (taken, step.layout)


def check_training() -> None:
    """A whole training learns, and the same seed gives the same bits."""
    whole = data.load("mnist")
    pictures = replace(
        whole,
        train_images=whole.train_images[:3000],
        train_labels=whole.train_labels[:3000],
        validation_images=whole.validation_images[:500],
        validation_labels=whole.validation_labels[:500],
    )
    spec = ModelSpec(
        distort=DistortSpec(0, 0, 0, 0, 0, 0),
        hidden=HiddenSpec(units=4),
        training=TrainingSpec(epochs=2, batch=32, learning_rate=0.01),
    )
    choice = choose_backend(choose(), [spec], "persistent")
    assert choice == Choice("persistent")
    first, again = (train(spec, pictures, choose(), lambda _: None, backend=choice) for _ in range(2))
    assert first.accuracy == pytest.approx(train(spec, pictures, choose(), lambda _: None).accuracy, abs=0.05)
    assert first.model.sha256() == again.model.sha256()


def check_parts_left_out() -> None:
    """A step can be timed without each of its parts."""
    whole = data.load("mnist")
    few = {
        name: getattr(whole, name)[:160] for name in ("train_images", "train_labels", "validation_images", "validation_labels")
    }
    times = measure_net("small", NetShape(16, 16, (3,), batch=32), replace(whole, **few), choose(), epochs=1)
    assert len(times.parts) == len(PARTS)
    assert times.whole > 0


def check_no_room() -> None:
    """Groups that wait for others which nobody runs give up; PoCL has fewer threads than there are groups."""
    persistent.PATIENCE = {True: 1 << 16, False: 1 << 16}
    reason = why_groups_do_not_meet(choose("portable"), net_of(FloatSpec(1, 8, False, units=60, batch=32)))
    assert reason == "the device does not run 60 groups at once", reason


CHECKS: dict[str, Callable[[], None]] = {name: partial(check_steps, name) for name in SPECS} | {
    "launches": check_launches,
    "memory": check_memory,
    "training": check_training,
    "parts left out": check_parts_left_out,
    "no room": check_no_room,
}

if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        CHECKS[wanted]()
        print(wanted)
