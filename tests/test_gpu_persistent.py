"""The persistent back end, in processes whose PoCL has a thread for each group."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.persistent_cases import CHECKS
from zxml.errors import DeviceError
from zxml.gpu.backends import choose_backend
from zxml.gpu.device import choose
from zxml.spec import HiddenSpec, ModelSpec

FAST = ("integer", "no room")


def run_checks(*names: str) -> None:
    environment = os.environ | {"POCL_MAX_PTHREAD_COUNT": "12"}
    command = [sys.executable, "-m", "tests.persistent_cases", *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.splitlines() == [*names], done.stderr


def test_steps_move_the_parameters_as_the_oracle_does_and_groups_that_cannot_meet_give_up() -> None:
    run_checks(*FAST)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*CHECKS} - {*FAST}))
def test_other_shapes_launches_and_trainings_hold_too(name: str) -> None:
    run_checks(name)


def test_a_net_of_more_units_than_the_device_has_is_an_error_that_says_so() -> None:
    units = choose().max_compute_units + 1
    message = rf"--backend persistent: {units} groups, and the device has {units - 1} compute units"
    with pytest.raises(DeviceError, match=message):
        choose_backend(choose(), [ModelSpec(hidden=HiddenSpec(units=units))], "persistent")
