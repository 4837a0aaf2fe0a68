/* norm - batch normalisation of sums (BATCH, ROWS, COLS, UNITS), an activation, and the greatest of 2 x 2 places if POOLED
 *
 * Set by the host: BATCH, ROWS, COLS, UNITS (at most 256), CHUNKS, POOLED, LEVELS (0: ReLU; n: rounded down, plus 1, clipped
 * to 0..n; 1: a threshold at 0, which is 1 above it), SAFE (sums farther from the threshold are pushed back, 0: none are), PUSH
 * (how hard), MEMORY (of the statistics that stay), QUANTISED, and where the parameters lie: GAIN, SHIFT (UNITS). If SCALE > 0,
 * nothing is normalised: y = (sum + shift) * SCALE with shift rounded if QUANTISED, and LEVELS = 1 is 1 at the threshold too.
 *
 * y = (sum - mean) / sqrt(var + EPSILON) * |gain| + shift, with the batch's mean and variance of a unit.
 * stats (4, UNITS): mean, 1 / deviation, and the running averages of mean and variance, which start as the first batch's; all 0
 * before it
 */

#define PLACES (ROWS * COLS)
#define EPSILON 0.1f
#define OUT_ROWS (POOLED ? (ROWS + 1) / 2 : ROWS)
#define OUT_COLS (POOLED ? (COLS + 1) / 2 : COLS)
#define SIZE 256

/* sums of two values for each unit over a part of the places, added up in a fixed order: sums (CHUNKS, 2, UNITS) */
inline void add_up(float one, float two, __local float *ones, __local float *twos, __global float *sums)
{
    int me = get_local_id(0), lanes = SIZE / UNITS;
    ones[me] = one;
    twos[me] = two;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < UNITS) {
        for (int lane = 1; lane < lanes; lane++) {
            one += ones[lane * UNITS + me];
            two += twos[lane * UNITS + me];
        }
        sums[get_group_id(0) * 2 * UNITS + me] = one;
        sums[get_group_id(0) * 2 * UNITS + UNITS + me] = two;
    }
}

__kernel void norm_sums(__global const float *in, __global float *sums)
{
    __local float ones[SIZE], twos[SIZE];
    int me = get_local_id(0), lanes = SIZE / UNITS, unit = me % UNITS;
    int share = (BATCH * PLACES + CHUNKS - 1) / CHUNKS, first = get_group_id(0) * share;
    int last = min(first + share, BATCH * PLACES);
    float one = 0.0f, two = 0.0f;
    for (int at = first + me / UNITS; at < (me < lanes * UNITS ? last : 0); at += lanes) {
        float value = in[at * UNITS + unit];
        one += value;
        two += value * value;
    }
    add_up(one, two, ones, twos, sums);
}

__kernel void norm_stats(__global const float *sums, __global float *stats)
{
    int unit = get_global_id(0);
    float one = 0.0f, two = 0.0f;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        one += sums[chunk * 2 * UNITS + unit];
        two += sums[chunk * 2 * UNITS + UNITS + unit];
    }
    float mean = one / (BATCH * PLACES), var = fmax(two / (BATCH * PLACES) - mean * mean, 0.0f);
    float part = stats[UNITS + unit] > 0.0f ? MEMORY : 1.0f;
    stats[unit] = mean;
    stats[UNITS + unit] = rsqrt(var + EPSILON);
    stats[2 * UNITS + unit] += (mean - stats[2 * UNITS + unit]) * part;
    stats[3 * UNITS + unit] += (var - stats[3 * UNITS + unit]) * part;
}

/* a sum and its shift, where nothing is normalised */
inline float shifted(float sum, __global const float *params, int unit)
{
    return sum + (QUANTISED ? rint(params[SHIFT + unit]) : params[SHIFT + unit]);
}

inline float normal(float sum, __global const float *stats, __global const float *params, int unit)
{
    if (SCALE > 0.0f)
        return shifted(sum, params, unit) * SCALE;
    return (sum - stats[unit]) * stats[UNITS + unit] * fabs(params[GAIN + unit]) + params[SHIFT + unit];
}

inline float activate(float y)
{
    if (LEVELS == 0)
        return fmax(y, 0.0f);
    if (LEVELS == 1 && SCALE == 0.0f)
        return y > 0.0f;
    return clamp(floor(y) + 1.0f, 0.0f, (float)LEVELS);
}

inline float slope(float y)
{
    if (LEVELS == 0)
        return y > 0.0f;
    if (LEVELS == 1)
        return fabs(y) < 1.0f ? 0.5f : 0.0f;
    return y > -0.5f && y < LEVELS - 0.5f;
}

__kernel void norm_forward(__global const float *in, __global const float *params, __global const float *stats,
                           __global float *out)
{
    int at = get_global_id(0), unit = at % UNITS;
    int x = at / UNITS % OUT_COLS, y = at / UNITS / OUT_COLS % OUT_ROWS, sample = at / UNITS / OUT_COLS / OUT_ROWS;
    float best = 0.0f;  /* no activation is less */
    for (int i = 0; i < (POOLED ? 4 : 1); i++) {
        int row = POOLED ? 2 * y + i / 2 : y, col = POOLED ? 2 * x + i % 2 : x;
        if (row < ROWS && col < COLS) {
            float value = activate(normal(in[((sample * ROWS + row) * COLS + col) * UNITS + unit], stats, params, unit));
            best = value > best ? value : best;
        }
    }
    out[at] = best;
}

/* The gradient of y, (BATCH, PLACES, UNITS), from that of the output; the greatest of a pool share it alike. */
__kernel void norm_slope(__global const float *in, __global const float *params, __global const float *stats,
                         __global const float *out_grad, __global float *y_grad)
{
    int at = get_global_id(0), unit = at % UNITS;
    int x = at / UNITS % OUT_COLS, y = at / UNITS / OUT_COLS % OUT_ROWS, sample = at / UNITS / OUT_COLS / OUT_ROWS;
    float values[4], best = 0.0f;
    int equal = 0;
    for (int i = 0; i < (POOLED ? 4 : 1); i++) {
        int row = POOLED ? 2 * y + i / 2 : y, col = POOLED ? 2 * x + i % 2 : x;
        if (row < ROWS && col < COLS) {
            values[i] = normal(in[((sample * ROWS + row) * COLS + col) * UNITS + unit], stats, params, unit);
            float value = activate(values[i]);
            equal = value > best ? 1 : equal + (value == best);
            best = value > best ? value : best;
        }
    }
    float share = out_grad[at] / equal;
    for (int i = 0; i < (POOLED ? 4 : 1); i++) {
        int row = POOLED ? 2 * y + i / 2 : y, col = POOLED ? 2 * x + i % 2 : x;
        if (row < ROWS && col < COLS)
            y_grad[((sample * ROWS + row) * COLS + col) * UNITS + unit] =
                activate(values[i]) == best ? share * slope(values[i]) : 0.0f;
    }
}

__kernel void norm_grad_sums(__global const float *in, __global const float *stats, __global const float *y_grad,
                             __global float *sums)
{
    __local float ones[SIZE], twos[SIZE];
    int me = get_local_id(0), lanes = SIZE / UNITS, unit = me % UNITS;
    int share = (BATCH * PLACES + CHUNKS - 1) / CHUNKS, first = get_group_id(0) * share;
    int last = min(first + share, BATCH * PLACES);
    float one = 0.0f, two = 0.0f;
    for (int at = first + me / UNITS; at < (me < lanes * UNITS ? last : 0); at += lanes) {
        float grad = y_grad[at * UNITS + unit];
        one += grad;
        two += grad * (in[at * UNITS + unit] - stats[unit]) * stats[UNITS + unit];
    }
    add_up(one, two, ones, twos, sums);
}

/* means (2, UNITS): of the gradient of y, and of that times the normalised sum */
__kernel void norm_param_grad(__global const float *sums, __global const float *params, __global float *grads,
                              __global float *means)
{
    int unit = get_global_id(0);
    float one = 0.0f, two = 0.0f;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        one += sums[chunk * 2 * UNITS + unit];
        two += sums[chunk * 2 * UNITS + UNITS + unit];
    }
    grads[SHIFT + unit] = SCALE > 0.0f ? one * SCALE : one;
    if (SCALE == 0.0f)
        grads[GAIN + unit] = params[GAIN + unit] < 0.0f ? -two : two;
    means[unit] = one / (BATCH * PLACES);
    means[UNITS + unit] = two / (BATCH * PLACES);
}

/* how a sum so far from its threshold is pushed back */
inline float push(float away)
{
    float over = SAFE > 0.0f ? fmax(fabs(away) - SAFE, 0.0f) / 128.0f : 0.0f;
    return over > 0.0f ? copysign((1.0f + 2.0f * over) * PUSH / 128.0f / PLACES, away) : 0.0f;
}

__kernel void norm_backward(__global const float *in, __global const float *params, __global const float *stats,
                            __global const float *means, __global float *y_grad)
{
    int at = get_global_id(0), unit = at % UNITS;
    float sum = in[at], size = fabs(params[GAIN + unit]);
    if (SCALE > 0.0f) {
        y_grad[at] = y_grad[at] * SCALE + push(shifted(sum, params, unit));
        return;
    }
    float part = (sum - stats[unit]) * stats[UNITS + unit];
    float away = part + params[SHIFT + unit] / fmax(size, 1e-3f);  /* from the threshold, in deviations */
    float grad = (y_grad[at] - means[unit] - part * means[UNITS + unit]) * stats[UNITS + unit] * size;
    y_grad[at] = grad + push(away / stats[UNITS + unit]);
}
