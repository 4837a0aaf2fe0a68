"""Names of their own for kernels that two nets of a cascade use: the later net's labels, constants and files get its number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from zxml.ir import ArgMax, Exit, Looks
from zxml.z80gen.kernel import Kernel, Part, Section, Symbols, Values

if TYPE_CHECKING:
    from zxml.z80gen.plan import Step

Rename = Callable[[str], str]


def with_own_names(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps; where a net uses kernels of a prefix that one before it uses, too, its steps use renamed kernels.

    All of the net's steps do, since what one of them writes may be another's.
    """
    nets = net_numbers(steps)
    prefixes = [step.kernel.prefix for step in steps]
    found = []
    for step, net in zip(steps, nets, strict=True):
        before, ours = ({prefixes[i] for i, other in enumerate(nets) if other in seen} for seen in (range(net), {net}))
        shared = tuple(sorted((before & ours) - {""}))
        found.append(replace(step, kernel=renamed(step.kernel, shared, net)) if shared else step)
    return tuple(found)


def net_numbers(steps: tuple[Step, ...]) -> list[int]:
    """Return which net of the cascade each step is of, from 1 on; an exit is of the net whose scores it looks at."""
    numbers, net = [], 1
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        numbers.append(net)
        if step.is_exit and after and not isinstance(after.part.layers[0], Exit | Looks | ArgMax):
            net += 1
    return numbers


@lru_cache(maxsize=1024)  # so that chains have renamed kernels in common
def renamed(kernel: Kernel, prefixes: tuple[str, ...], net: int) -> Kernel:
    """Return a kernel all of whose names that start with the prefixes start with the net's number before them."""
    pattern = re.compile(rf"\b(?:{'|'.join([*prefixes, *map(str.upper, prefixes)])})_")

    def rename(text: str) -> str:
        return pattern.sub(lambda found: f"{'T' if found.group().isupper() else 't'}{net}_{found.group()}", text)

    def read(memory: bytes, symbols: Symbols, part: Part) -> Values:
        return kernel.read(memory, RenamedSymbols(symbols, rename), part)

    return replace(
        kernel,
        calls=lambda part: tuple(map(rename, kernel.calls(part))),
        constants=lambda part: {rename(name): value for name, value in kernel.constants(part).items()},
        sections=lambda part: tuple(_renamed_section(section, rename) for section in kernel.sections(part)),
        read=read,
    )


def _renamed_section(section: Section, rename: Rename) -> Section:
    generated = {rename(name): _renamed_text(write, rename) for name, write in section.generated.items()}
    return replace(section, source=rename(section.source), generated=generated, file=section.source, rename=rename)


def _renamed_text(write: Callable[[], str], rename: Rename) -> Callable[[], str]:
    return lambda: rename(write())


class RenamedSymbols(Mapping[str, int]):
    """Symbols of an assembly by the names that a kernel has for them."""

    def __init__(self, symbols: Symbols, rename: Rename) -> None:
        self._symbols, self._rename = symbols, rename

    def __getitem__(self, name: str) -> int:
        return self._symbols[self._rename(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)
