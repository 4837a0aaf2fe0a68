"""What the planner measures plans on: what each layer makes of some pictures, further looks included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zxml.ir import Exit, Layer, Looks, looked_again, sources
from zxml.reference import move, trace_layers
from zxml.z80gen.kernel import Kernel, Values


class Trace:
    """Of some pictures: what they are and what each layer puts out, in order, and what each layer takes.

    looks: of each layer of further looks, by its number, which pictures come to it, and of each look what its layers make of
    these. The others' scores after it are those of their first look. spent: a kernel's T-states, with the number of its input.
    """

    def __init__(self, layers: tuple[Layer, ...], pictures: Values) -> None:
        known, going = list[Values](), np.ones(len(pictures), bool)
        self.looks: dict[int, tuple[Values, list[Trace]]] = {}
        self.spent: dict[tuple[Kernel, int], Values] = {}
        for number, layer in enumerate(layers):
            if isinstance(layer, Looks):
                known.append(self._look(layers, number, pictures, known, np.flatnonzero(going)))
            else:
                known = trace_layers(layers[: number + 1], pictures, known=known)
            if isinstance(layer, Exit):
                going &= known[-1][:, 0] == 0
        self.outputs = [pictures, *known]
        self.taken = [self.outputs[source + 1] for source in sources(layers)]

    def _look(
        self, layers: tuple[Layer, ...], number: int, pictures: Values, known: list[Values], going: NDArray[np.int64]
    ) -> Values:
        """Keep the further looks of layer `number` at those going, and return all scores after them."""
        looks, again = layers[number], looked_again(layers, number)
        total = known[list(sources(layers[: number + 1]))[number]].copy()
        assert isinstance(looks, Looks)
        moved = (move(pictures[going], *shift) for shift in looks.shifts if len(going))
        traces = [Trace(tuple(layers[each] for each in again), each) for each in moved]
        for look in traces:
            total[going] += look.outputs[-1]
        self.looks[number] = going, traces
        return total
