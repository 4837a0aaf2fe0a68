/* conv - convolutions of maps (BATCH, IN_ROWS, IN_COLS, CHANNELS) as a product of matrices whose left one is never made
 *
 * Set by the host: BATCH, IN_ROWS, IN_COLS, CHANNELS, OUT_ROWS, OUT_COLS, UNITS, WINDOW (side of the window), PAD (0 forward,
 * WINDOW - 1 for the gradient of the input), STRIDE (of the window over the map), SPREAD (for that gradient: how far apart the
 * places of the map lie, with zeros between), CHUNKS, and WIDE (a multiple of 16). A group of 16 x 16 work-items makes a tile
 * of TALL places by WIDE units, DEEP inputs at a time.
 *
 * weight (WINDOW * WINDOW * CHANNELS, UNITS);  out (BATCH, OUT_ROWS, OUT_COLS, UNITS)
 */

#define PLACES (OUT_ROWS * OUT_COLS)
#define INPUTS (WINDOW * WINDOW * CHANNELS)
#define SIDE 16
#define TALL 64
#define DEEP 16

/* input k of the window at a place of the batch, 0 beyond the map */
inline float input_at(__global const float *map, int at, int k)
{
    int sample = at / PLACES, y = at % PLACES / OUT_COLS * STRIDE - PAD + k / (WINDOW * CHANNELS);
    int x = at % OUT_COLS * STRIDE - PAD + k / CHANNELS % WINDOW;
    if (at >= BATCH * PLACES || k >= INPUTS || y < 0 || x < 0 || y >= IN_ROWS * SPREAD || x >= IN_COLS * SPREAD)
        return 0.0f;
    if (y % SPREAD || x % SPREAD)
        return 0.0f;
    return map[((sample * IN_ROWS + y / SPREAD) * IN_COLS + x / SPREAD) * CHANNELS + k % CHANNELS];
}

__kernel void conv(__global const float *map, __global const float *weight, __global float *out)
{
    __local float left[DEEP][TALL + 1], right[DEEP][WIDE];
    int tx = get_local_id(0), ty = get_local_id(1), me = ty * SIDE + tx;
    int top = get_group_id(1) * TALL, unit = get_group_id(0) * WIDE;
    float sum[TALL / SIDE][WIDE / SIDE];
    for (int i = 0; i < TALL / SIDE; i++)
        for (int j = 0; j < WIDE / SIDE; j++)
            sum[i][j] = 0.0f;
    for (int k = 0; k < INPUTS; k += DEEP) {
        for (int i = me; i < TALL * DEEP; i += SIDE * SIDE)
            left[i % DEEP][i / DEEP] = input_at(map, top + i / DEEP, k + i % DEEP);
        for (int i = me; i < WIDE * DEEP; i += SIDE * SIDE) {
            int row = k + i / WIDE, col = unit + i % WIDE;
            right[i / WIDE][i % WIDE] = row < INPUTS && col < UNITS ? weight[row * UNITS + col] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 0; d < DEEP; d++)
            for (int i = 0; i < TALL / SIDE; i++)
                for (int j = 0; j < WIDE / SIDE; j++)
                    sum[i][j] += left[d][i * SIDE + ty] * right[d][j * SIDE + tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < TALL / SIDE; i++)
        for (int j = 0; j < WIDE / SIDE; j++) {
            int at = top + i * SIDE + ty, col = unit + j * SIDE + tx;
            if (at < BATCH * PLACES && col < UNITS)
                out[at * UNITS + col] = sum[i][j];
        }
}

/* The gradient of the weights, over a part of the places: sums (CHUNKS, INPUTS, UNITS). */
__kernel void conv_weight_grad(__global const float *map, __global const float *out_grad, __global float *sums)
{
    __local float left[DEEP][TALL + 1], right[DEEP][WIDE];
    int tx = get_local_id(0), ty = get_local_id(1), me = ty * SIDE + tx;
    int unit = get_group_id(0) * WIDE, input = get_group_id(1) * TALL, chunk = get_group_id(2);
    float sum[TALL / SIDE][WIDE / SIDE];
    for (int i = 0; i < TALL / SIDE; i++)
        for (int j = 0; j < WIDE / SIDE; j++)
            sum[i][j] = 0.0f;
    int share = (BATCH * PLACES + CHUNKS - 1) / CHUNKS, first = chunk * share, last = min(first + share, BATCH * PLACES);
    for (int at = first; at < last; at += DEEP) {
        for (int i = me; i < TALL * DEEP; i += SIDE * SIDE)
            left[i / TALL][i % TALL] = at + i / TALL < last ? input_at(map, at + i / TALL, input + i % TALL) : 0.0f;
        for (int i = me; i < WIDE * DEEP; i += SIDE * SIDE) {
            int row = at + i / WIDE, col = unit + i % WIDE;
            right[i / WIDE][i % WIDE] = row < last && col < UNITS ? out_grad[row * UNITS + col] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 0; d < DEEP; d++)
            for (int i = 0; i < TALL / SIDE; i++)
                for (int j = 0; j < WIDE / SIDE; j++)
                    sum[i][j] += left[d][i * SIDE + ty] * right[d][j * SIDE + tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < TALL / SIDE; i++)
        for (int j = 0; j < WIDE / SIDE; j++) {
            int row = input + i * SIDE + ty, col = unit + j * SIDE + tx;
            if (row < INPUTS && col < UNITS)
                sums[(chunk * INPUTS + row) * UNITS + col] = sum[i][j];
        }
}
