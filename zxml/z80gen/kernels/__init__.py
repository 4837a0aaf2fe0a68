"""Every kernel there is. To add one, write its file in asm/kernel/, its value here beside, and name it in KERNELS."""

from zxml.z80gen.kernel import Kernel
from zxml.z80gen.kernels.arg_max import ARG_MAX
from zxml.z80gen.kernels.bit_sum import BIT_SUM
from zxml.z80gen.kernels.bit_sum_4bit import BIT_SUM_4BIT, BIT_SUM_PLANES
from zxml.z80gen.kernels.code_line import BATCHES as CODE_BATCHES
from zxml.z80gen.kernels.code_sum import code_sum
from zxml.z80gen.kernels.code_sum_4bit import CODE_SUM_4BIT
from zxml.z80gen.kernels.conv_bits import CONV_BITS
from zxml.z80gen.kernels.conv_expand import CONV_EXPAND, CONV_PLANES
from zxml.z80gen.kernels.conv_pairs import CONV_PAIRS
from zxml.z80gen.kernels.conv_places import CONV_PLACES
from zxml.z80gen.kernels.conv_pool import CONV_POOL
from zxml.z80gen.kernels.conv_table import CONV_TABLE
from zxml.z80gen.kernels.conv_threes import CONV_THREES
from zxml.z80gen.kernels.dense_sum import BATCHES, dense_sum
from zxml.z80gen.kernels.edge_sum import edge_sum
from zxml.z80gen.kernels.exit_gap import EXIT_GAP
from zxml.z80gen.kernels.front_bits import FRONT_BITS, FRONT_PLANES
from zxml.z80gen.kernels.front_codes import front_codes
from zxml.z80gen.kernels.hidden_bits import FORMS, hidden_bits
from zxml.z80gen.kernels.hidden_codes import FORMS as CODE_FORMS
from zxml.z80gen.kernels.hidden_codes import hidden_codes
from zxml.z80gen.kernels.looks import LOOKS

KERNELS: tuple[Kernel, ...] = (
    *(edge_sum(batch) for batch in BATCHES),
    *(dense_sum(batch) for batch in BATCHES),
    *(front_codes(batch, keeps) for keeps in (False, True) for batch in CODE_BATCHES),
    FRONT_BITS,
    FRONT_PLANES,
    *(code_sum(batch) for batch in CODE_BATCHES),
    CODE_SUM_4BIT,
    EXIT_GAP,
    CONV_TABLE,
    CONV_POOL,
    *CONV_EXPAND,
    *CONV_PLANES,
    *CONV_PLACES,
    *CONV_THREES,
    CONV_BITS,
    CONV_PAIRS,
    BIT_SUM,
    BIT_SUM_4BIT,
    BIT_SUM_PLANES,
    *(hidden_bits(form, batch) for form in FORMS for batch in BATCHES),
    *(hidden_codes(form, codes, batch) for form in CODE_FORMS for codes in CODE_BATCHES for batch in BATCHES),
    LOOKS,
    ARG_MAX,
)
