// group_update - second half of a training step for a GPU: deltas to gradients, one step of the optimiser, new integers
//
// A work-group updates one row: of a pixel (the last is the hidden biases), of a hidden unit (the last is the output biases), or
// the scalars. Its work-items share the batch: as many as the row has lanes take a part of the samples, and the parts are added
// in order. What it computes, and In and Out, are as in tile_update.cl, but partial (BATCH) has an entry a sample, and masks
// are 0 again afterwards. All groups meet at the same barriers: PoCL miscompiled barriers in branches.
//
// Sizes      as in tile_update.cl, units.cl; GROUP: the local size; PARTS of the batch that a pixel's sum is made of

#define SEGMENT ((TILES + PARTS - 1) / PARTS * TILE) // samples of a part
#define PIXEL_ROWS (PIXELS + 1)
#define OUTPUT_ROWS (HIDDEN + 1)

// each of these returns this work-item's part of a sum over the batch

// set (up to SEGMENT): the samples of this part's tiles in which the pixel p is set;  count: how many
static inline float add_deltas(uint p, local const ushort *set, uint count, global const float *deltas, global const uchar *shades)
{
    const uint lane = get_local_id(0) % HIDDEN_LANES;
    float sum = 0.0f;
    for (uint first = 0; first < count; first += AT_ONCE)
        _Pragma("unroll") for (uint k = 0; k < AT_ONCE; k++) {
            const uint s = first + k < count ? set[first + k] : 0;
#ifdef GREY
            const float delta = shades[(s / TILE * PIXELS + p) * TILE + s % TILE] * GREY_STEP * deltas[s * HIDDEN_LANES + lane];
#else
            const float delta = deltas[s * HIDDEN_LANES + lane];
#endif
            sum += first + k < count ? delta : 0.0f;
        }
    return sum;
}

static inline float add_products(uint j, global const float *levels, global const float *score_deltas)
{
    const uint lane = get_local_id(0) % CLASS_LANES;
    float sum = 0.0f;
    for (uint s = get_local_id(0) / CLASS_LANES; s < BATCH; s += GROUP / CLASS_LANES)
        sum += levels[s * HIDDEN_LANES + j] * score_deltas[s * CLASS_LANES + lane];
    return sum;
}

static inline float add_samples(global const float *values, uint lanes)
{
    float sum = 0.0f;
    for (uint s = get_local_id(0) / lanes; s < BATCH; s += GROUP / lanes)
        sum += values[s * lanes + get_local_id(0) % lanes];
    return sum;
}

static inline float2 add_partials(global const float2 *partial)
{
    float2 sum = (float2)(0.0f);
    for (uint s = get_local_id(0); s < BATCH; s += GROUP)
        sum += partial[s];
    return sum;
}

// one step of the optimiser on entry `lane` of a row (weight, first, second moment) (3, lanes); returns the new integer
static inline float descend_entry(global float *row, uint lanes, uint lane, float gradient, float4 rates, float step, float limit)
{
    float weight = row[lane], first = row[lanes + lane], second = row[2 * lanes + lane];
    descend(&weight, &first, &second, gradient, rates, step, limit);
    row[lane] = weight;
    row[lanes + lane] = first;
    row[2 * lanes + lane] = second;
    return USED(weight);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void group_update(global uint *restrict masks, global const float *restrict levels, global const float *restrict deltas,
                  global const float *restrict score_deltas, global const float2 *restrict partial,
                  global const float4 *restrict rates_of_step, global float *restrict hidden, global float *restrict output,
                  global float *restrict scalars, global SUM *restrict hidden_integers, global float *restrict output_integers,
                  global float *restrict turned, global uint *restrict state
#ifdef GREY
                  , global const uchar *restrict shades
#endif
                  )
{
#ifndef GREY
    global const uchar *shades = 0;
#endif
    local float2 parts[GROUP];
    local uint counts[TILES];
    local ushort set[PARTS * SEGMENT];
    const uint group = get_group_id(0), item = get_local_id(0);
    const uint lanes = group < PIXEL_ROWS ? HIDDEN_LANES : group < PIXEL_ROWS + OUTPUT_ROWS ? CLASS_LANES : 1;
    const uint j = group - PIXEL_ROWS; // row of the output layer
    float4 rates = rates_of_step[state[1] - 1];

    for (uint t = item; t < TILES; t += GROUP)
        counts[t] = group < PIXELS ? popcount(masks[t * PIXELS + group]) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = item; t < TILES; t += GROUP) {
        uint at = t % PARTS * SEGMENT;
        for (uint k = t % PARTS; k < t; k += PARTS)
            at += counts[k];
        for (uint bits = counts[t] ? masks[t * PIXELS + group] : 0; bits; bits &= bits - 1)
            set[at++] = t * TILE + LOWEST_BIT((ulong)bits);
    }
    uint count = 0;
    const uint part = min(item / HIDDEN_LANES, PARTS - 1u);
    for (uint t = part; t < TILES; t += PARTS)
        count += counts[t];
    barrier(CLK_LOCAL_MEM_FENCE);

    float2 sum = (float2)(0.0f);
    if (group < PIXELS)
        sum.x = add_deltas(group, set + part * SEGMENT, count, deltas, shades);
    else if (group < PIXEL_ROWS)
        sum.x = add_samples(deltas, HIDDEN_LANES);
    else if (j < HIDDEN)
        sum.x = add_products(j, levels, score_deltas);
    else if (j < OUTPUT_ROWS)
        sum.x = add_samples(score_deltas, CLASS_LANES);
    else
        sum = add_partials(partial);
    parts[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    if (group < PIXELS)
        for (uint t = item; t < TILES; t += GROUP)
            masks[t * PIXELS + group] = 0;
    if (item < lanes) {
        float2 gradient = (float2)(0.0f);
        for (uint k = 0; k < GROUP / lanes; k++)
            gradient += parts[k * lanes + item];
        if (group == PIXELS || j == HIDDEN)
            rates.z = 0.0f; // biases do not decay
        if (group < PIXEL_ROWS) {
            global float *row = hidden + group * 3 * HIDDEN_LANES;
            const float limit = group < PIXELS ? HIDDEN_LIMIT : BIAS_LIMIT;
            hidden_integers[group * HIDDEN_LANES + item] =
                descend_entry(row, lanes, item, gradient.x, rates, HIDDEN_STEP, limit);
        } else if (j < OUTPUT_ROWS) {
            const uint at = j < HIDDEN ? j : HIDDEN_LANES;
            const float limit = j < HIDDEN ? OUTPUT_LIMIT : BIAS_LIMIT;
            const float integer =
                descend_entry(output + at * 3 * CLASS_LANES, lanes, item, gradient.x, rates, OUTPUT_STEP, limit);
            output_integers[at * CLASS_LANES + item] = integer;
            if (j < HIDDEN && item < CLASSES)
                turned[item * HIDDEN_LANES + j] = integer;
        } else {
#ifndef FLOAT_NET
            descend_entry(scalars, 1, 0, gradient.y, rates, 1.0f, INFINITY);
#endif
            scalars[3] += gradient.x / BATCH;
            state[0] = state[1];
        }
    }
}
