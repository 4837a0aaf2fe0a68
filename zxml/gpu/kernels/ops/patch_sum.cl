/* patch_sum - sums of learned rows, one for each pattern of each patch of one-bit pictures
 *
 * Set by the host: BATCH, TOP, LEFT, PATCH_ROWS, PATCH_COLS (at most 8 pixels a patch), DOWN, ACROSS (patches of the window),
 * UNITS, PARTS (of a batch), QUANTISED, BIASED, and where the parameters lie: ROWS_AT (PATCHES, PATTERNS - 1, UNITS), and BIAS
 * (UNITS) if BIASED.
 *
 * A pattern is a patch's pixels in raster order, the first in bit 0; pattern 0, a blank one, adds nothing. With patches of one
 * pixel this is a dense layer on pixels.
 *
 * pictures (n, 28) uint, bit 0 leftmost;  order (steps, BATCH);  state[0] = step;  patterns (BATCH, PATCHES) uchar
 * out, out_grad (BATCH, UNITS)
 */

#define PATCHES (DOWN * ACROSS)
#define PATTERNS (1 << PATCH_ROWS * PATCH_COLS)
#define GROUP 64
#define LANES 32
#define VALUE(i) (QUANTISED ? rint(params[i]) : params[i])

inline int pattern_of(__global const uint *picture, int patch)
{
    int pattern = 0;
    for (int row = 0; row < PATCH_ROWS; row++) {
        uint pixels = picture[TOP + patch / ACROSS * PATCH_ROWS + row] >> (LEFT + patch % ACROSS * PATCH_COLS);
        pattern |= (pixels & ((1 << PATCH_COLS) - 1)) << row * PATCH_COLS;
    }
    return pattern;
}

/* One group a sample. */
__kernel void patch_sum(__global const uint *pictures, __global const uint *order, __global const uint *state,
                        __global const float *params, __global uchar *patterns, __global float *out)
{
    __local int row[PATCHES];  /* of the parameters; -1: none */
    int sample = get_group_id(0), me = get_local_id(0);
    __global const uint *picture = pictures + order[state[0] * BATCH + sample] * 28;
    for (int patch = me; patch < PATCHES; patch += GROUP) {
        int pattern = pattern_of(picture, patch);
        patterns[sample * PATCHES + patch] = pattern;
        row[patch] = pattern ? patch * (PATTERNS - 1) + pattern - 1 : -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int unit = me; unit < UNITS; unit += GROUP) {
        float total = BIASED ? VALUE(BIAS + unit) : 0.0f;
        for (int patch = 0; patch < PATCHES; patch++)
            total += row[patch] < 0 ? 0.0f : VALUE(ROWS_AT + row[patch] * UNITS + unit);
        out[sample * UNITS + unit] = total;
    }
}

/* One group a patch, LANES units and a part of the batch, a work-item a column: sums (PARTS, PATCHES, PATTERNS - 1, UNITS). */
__kernel void patch_sum_grad(__global const uchar *patterns, __global const float *out_grad, __global float *sums)
{
    __local float table[PATTERNS * LANES];
    int patch = get_group_id(0), me = get_local_id(0), unit = get_group_id(1) * LANES + me, part = get_group_id(2);
    if (unit < UNITS) {
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            table[pattern * LANES + me] = 0.0f;
        for (int sample = part * BATCH / PARTS; sample < (part + 1) * BATCH / PARTS; sample++)
            table[patterns[sample * PATCHES + patch] * LANES + me] += out_grad[sample * UNITS + unit];
        for (int pattern = 1; pattern < PATTERNS; pattern++)
            sums[((part * PATCHES + patch) * (PATTERNS - 1) + pattern - 1) * UNITS + unit] = table[pattern * LANES + me];
    }
}
