"""Kernel files to programs: sizes become macros, and a failed build becomes an error with the driver's log."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyopencl as cl

from zxml.errors import DeviceError

KERNELS = Path(__file__).parent / "kernels"
SHARED = ("float16.cl", "lanes.cl", "optimiser.cl")  # of the kernels for CPUs
GPU_SHARED = (*SHARED, "units.cl")


def build(context: Any, names: tuple[str, ...], sizes: dict[str, int | float | str]) -> Any:
    """Return the program of the kernel files `names`, with each entry of sizes as a macro.

    Raises DeviceError with the build log if the driver does not take it.
    """
    source = "\n".join((KERNELS / name).read_text(encoding="utf-8") for name in names)
    return build_source(context, source, sizes)


def build_source(context: Any, source: str, sizes: dict[str, int | float | str]) -> Any:
    """Return the program of OpenCL C text; see `build`. NVIDIA is defined where the device takes PTX."""
    maker = ["-DNVIDIA"] if "nvidia" in context.devices[0].vendor.lower() else []
    macros = [f"-D{name}={_literal(value)}" for name, value in sizes.items()]
    options = [*macros, *maker, "-cl-denorms-are-zero", "-cl-mad-enable", "-w"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.CompilerWarning)  # drivers chat in the log of a good build
            return cl.Program(context, source).build(options)
    except cl.Error as error:
        raise DeviceError(f"the OpenCL driver of {context.devices[0].name} cannot build the kernels: {error}") from error


def _literal(value: int | float | str) -> str:
    return f"{value!r}f" if isinstance(value, float) else str(value)
