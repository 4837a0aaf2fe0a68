"""Listing and choosing OpenCL devices."""

import sys
from types import SimpleNamespace
from typing import Any

import pyopencl as cl
import pytest

from zxml.errors import DeviceError
from zxml.gpu import device


def fake(name: str, kind: int) -> Any:
    return SimpleNamespace(name=name, type=kind, max_compute_units=4, platform=SimpleNamespace(name="Fake"))


def platforms(*found: Any) -> Any:
    return lambda: [SimpleNamespace(get_devices=lambda: list(found))]


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = cl.device_type
    found = [fake("Big CPU", kinds.CPU), fake("Odd One", kinds.ACCELERATOR), fake("Fast Card 9", kinds.GPU)]
    monkeypatch.setattr(cl, "get_platforms", platforms(*found))


def test_this_machine_has_a_device() -> None:
    assert device.devices()
    assert device.choose().name


@pytest.mark.usefixtures("three")
def test_a_gpu_comes_before_a_cpu_and_a_cpu_before_others() -> None:
    assert [(info.index, info.kind) for info in device.devices()] == [(0, "gpu"), (1, "cpu"), (2, "other")]
    assert device.choose().name == "Fast Card 9"


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(("text", "name"), [("1", "Big CPU"), ("big", "Big CPU"), (" card 9", "Fast Card 9"), ("2", "Odd One")])
def test_a_device_is_named_by_number_or_by_a_part_of_its_name(text: str, name: str) -> None:
    assert device.choose(text).name == name


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("text", ["3", "radeon", ""])
def test_an_unknown_device_is_an_error_that_lists_those_there(text: str) -> None:
    if text:
        with pytest.raises(DeviceError, match=rf"no OpenCL device '{text}'; there are: 0: Fast Card 9 \(gpu, .*2: Odd One"):
            device.choose(text)
    else:
        assert device.choose(text).name == "Fast Card 9"


def test_a_machine_without_platforms_is_told_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cl, "get_platforms", lambda: [])
    with pytest.raises(DeviceError, match=r'pip install "pyopencl\[pocl\]"'):
        device.choose()


def test_a_loader_that_finds_nothing_is_told_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise cl.LogicError("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")

    monkeypatch.setattr(cl, "get_platforms", fail)
    with pytest.raises(DeviceError, match=r'PLATFORM_NOT_FOUND_KHR.*pip install "pyopencl\[pocl\]"'):
        device.devices()


def test_a_missing_pyopencl_is_told_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with pytest.raises(DeviceError, match=r'pip install "pyopencl\[pocl\]"'):
        device.choose()
