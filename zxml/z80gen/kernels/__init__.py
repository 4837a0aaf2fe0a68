"""Every kernel there is. To add one, write its file in asm/kernel/, its value here beside, and name it in KERNELS."""

from zxml.z80gen.kernel import Kernel
from zxml.z80gen.kernels.arg_max import ARG_MAX
from zxml.z80gen.kernels.dense_sum import BATCHES, dense_sum
from zxml.z80gen.kernels.edge_sum import edge_sum

KERNELS: tuple[Kernel, ...] = (
    *(edge_sum(batch) for batch in BATCHES),
    *(dense_sum(batch) for batch in BATCHES),
    ARG_MAX,
)
