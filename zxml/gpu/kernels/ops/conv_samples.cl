/* conv_samples - the kernels of conv.cl for CPUs: a work-item takes a sample, or a part of the places, and skips zeros
 *
 * Set by the host: as for conv.cl, without WIDE.
 *
 * weight (WINDOW * WINDOW * CHANNELS, UNITS);  out (BATCH, OUT_ROWS, OUT_COLS, UNITS)
 */

#define PLACES (OUT_ROWS * OUT_COLS)
#define INPUTS (WINDOW * WINDOW * CHANNELS)

/* where the place of the map lies that the window at `at` has at row and column `down`, `right`, or -1 if there is none */
inline int place_of(int at, int down, int right)
{
    int sample = at / PLACES, y = at % PLACES / OUT_COLS * STRIDE - PAD + down, x = at % OUT_COLS * STRIDE - PAD + right;
    if (y < 0 || x < 0 || y >= IN_ROWS * SPREAD || x >= IN_COLS * SPREAD || y % SPREAD || x % SPREAD)
        return -1;
    return (sample * IN_ROWS + y / SPREAD) * IN_COLS + x / SPREAD;
}

__kernel void conv(__global const float *map, __global const float *weight, __global float *out)
{
    for (int at = get_global_id(0) * PLACES; at < (get_global_id(0) + 1) * PLACES; at++) {
        float sum[UNITS];
        for (int unit = 0; unit < UNITS; unit++)
            sum[unit] = 0.0f;
        for (int part = 0; part < WINDOW * WINDOW; part++) {
            int place = place_of(at, part / WINDOW, part % WINDOW);
            for (int channel = 0; place >= 0 && channel < CHANNELS; channel++) {
                float value = map[place * CHANNELS + channel];
                __global const float *row = weight + (part * CHANNELS + channel) * UNITS;
                if (value != 0.0f)
                    for (int unit = 0; unit < UNITS; unit++)
                        sum[unit] += value * row[unit];
            }
        }
        for (int unit = 0; unit < UNITS; unit++)
            out[at * UNITS + unit] = sum[unit];
    }
}

/* The gradient of the weights, over a part of the places: sums (CHUNKS, INPUTS, UNITS). */
__kernel void conv_weight_grad(__global const float *map, __global const float *out_grad, __global float *sums)
{
    int chunk = get_global_id(0), share = (BATCH * PLACES + CHUNKS - 1) / CHUNKS, first = chunk * share;
    __global float *sum = sums + chunk * INPUTS * UNITS;
    for (int i = 0; i < INPUTS * UNITS; i++)
        sum[i] = 0.0f;
    for (int at = first; at < min(first + share, BATCH * PLACES); at++)
        for (int part = 0; part < WINDOW * WINDOW; part++) {
            int place = place_of(at, part / WINDOW, part % WINDOW);
            for (int channel = 0; place >= 0 && channel < CHANNELS; channel++) {
                float value = map[place * CHANNELS + channel];
                __global float *row = sum + (part * CHANNELS + channel) * UNITS;
                if (value != 0.0f)
                    for (int unit = 0; unit < UNITS; unit++)
                        row[unit] += value * out_grad[at * UNITS + unit];
            }
        }
}
