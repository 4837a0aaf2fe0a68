"""The OpenCL devices of this machine, and which of them to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zxml.errors import DeviceError

CURE = 'install a driver, or a device that is the CPU itself: pip install "pyopencl[pocl]"'

SHAPES = ("tiles", "groups")  # of the kernels that train in two launches a step: kernels/lanes.cl
BACKENDS = (*SHAPES, "persistent", "population")  # all ways to train; zxml/gpu/backends.py tells them apart
GROUP = 256  # work-items of a group of group_update


@dataclass(frozen=True)
class DeviceInfo:
    """One device: its number in the list, its names, gpu or cpu or other, and its compute units."""

    index: int
    name: str
    platform: str
    kind: str
    units: int

    def __str__(self) -> str:
        return f"{self.index}: {self.name} ({self.kind}, {self.units} compute units, {self.platform})"


def devices() -> list[DeviceInfo]:
    """Return the devices, GPUs first; raise DeviceError if there is no OpenCL."""
    return [_describe(index, device) for index, device in enumerate(_all_devices())]


def choose(text: str | None = None) -> Any:
    """Return the pyopencl device that text names: its number in the list or a part of its name; None means the first.

    Raises DeviceError, with the list, if there is no such device.
    """
    found = _all_devices()
    wanted = (text or "0").strip().lower()
    for index, device in enumerate(found):
        if wanted == str(index) or (not wanted.isdigit() and wanted in str(_describe(index, device)).lower()):
            return device
    listed = "; ".join(str(info) for info in devices())
    raise DeviceError(f"no OpenCL device {text!r}; there are: {listed}")


def choose_shape(device: Any) -> str:
    """Return the shape of kernels for a device: groups on whatever is no CPU and has groups large enough."""
    return "tiles" if is_cpu(device) or device.max_work_group_size < GROUP else "groups"


def is_cpu(device: Any) -> bool:
    """Return whether a device is a CPU."""
    return _kind(device) == "cpu"


def _all_devices() -> list[Any]:
    try:
        import pyopencl as cl
    except ImportError as error:
        raise DeviceError(f"OpenCL cannot be used ({error}); {CURE}") from error
    try:
        found = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error as error:
        raise DeviceError(f"no OpenCL device is there ({error}); {CURE}") from error
    if not found:
        raise DeviceError(f"no OpenCL device is there; {CURE}")
    return sorted(found, key=lambda device: ("gpu", "cpu", "other").index(_kind(device)))


def _describe(index: int, device: Any) -> DeviceInfo:
    return DeviceInfo(index, device.name.strip(), device.platform.name.strip(), _kind(device), device.max_compute_units)


def _kind(device: Any) -> str:
    import pyopencl as cl

    kinds = {cl.device_type.GPU: "gpu", cl.device_type.CPU: "cpu"}
    return next((name for flag, name in kinds.items() if device.type & flag), "other")
