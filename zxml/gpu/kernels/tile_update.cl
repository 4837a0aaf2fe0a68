// tile_update - second half of a training step for a CPU: deltas to gradients, one step of the optimiser, new integers
//
// One work-item updates the rows of PIXEL_TILE pixels, or OUTPUT_TILE rows of the output layer, or, the last one, the biases.
// A pixel's gradient is the sum of the deltas of the samples in which it is set, in the order of the samples.
//
// In         masks, levels, deltas, score_deltas, partial, state[1], shades: from tile_forward;  rates (steps): from schedule.py
// In, out    hidden (PIXELS + 1, 3, HIDDEN), output (HIDDEN_LANES + 1, 3, CLASSES): weight and two moments; biases last
//            scalars: [0..2] log of the temperature's inverse and its moments, [3] the epoch's loss, summed over steps
// Out        hidden_integers (PIXELS + 1, HIDDEN), output_integers (HIDDEN_LANES + 1, CLASSES), turned (CLASSES, HIDDEN)
//            state[0] = state[1]
// Sizes      lanes.cl; HIDDEN_STEP, OUTPUT_STEP: real value of a unit; HIDDEN_LIMIT, OUTPUT_LIMIT, BIAS_LIMIT

#define PIXEL_ITEMS ((PIXELS + PIXEL_TILE - 1) / PIXEL_TILE)
#define OUTPUT_ITEMS ((HIDDEN + OUTPUT_TILE - 1) / OUTPUT_TILE)

static inline void update_hidden(uint row, const float16 *gradient, global float16 *hidden, global SUM16 *integers, float4 rates,
                                 float limit)
{
    EACH_HIDDEN_BLOCK {
        global float16 *at = hidden + row * 3 * HIDDEN_BLOCKS + v;
        float16 weight = at[0], first = at[HIDDEN_BLOCKS], second = at[2 * HIDDEN_BLOCKS];
        descend(&weight, &first, &second, gradient[v], rates, HIDDEN_STEP, limit);
        at[0] = weight;
        at[HIDDEN_BLOCKS] = first;
        at[2 * HIDDEN_BLOCKS] = second;
        integers[row * HIDDEN_BLOCKS + v] = AS_SUM16(USED(weight));
    }
}

static inline void update_output(uint row, const float16 *gradient, global float16 *output, global float16 *integers,
                                 float4 rates, float limit)
{
    EACH_CLASS_BLOCK {
        global float16 *at = output + row * 3 * CLASS_BLOCKS + v;
        float16 weight = at[0], first = at[CLASS_BLOCKS], second = at[2 * CLASS_BLOCKS];
        descend(&weight, &first, &second, gradient[v], rates, OUTPUT_STEP, limit);
        at[0] = weight;
        at[CLASS_BLOCKS] = first;
        at[2 * CLASS_BLOCKS] = second;
        integers[row * CLASS_BLOCKS + v] = USED(weight);
    }
}

#ifdef GREY
static inline void add_deltas(ulong bits, global const float16 *deltas, global const uchar *shades, float16 *gradient)
{
    while (bits) {
        const uint s = LOWEST_BIT(bits);
        const float shade = shades[s / TILE * PIXELS * TILE + s % TILE] * GREY_STEP;
        bits &= bits - 1;
        EACH_HIDDEN_BLOCK gradient[v] += shade * deltas[s * HIDDEN_BLOCKS + v];
    }
}
#else
static inline void add_deltas(ulong bits, global const float16 *deltas, float16 *gradient)
{
    while (bits) {
        global const float16 *delta = deltas + LOWEST_BIT(bits) * HIDDEN_BLOCKS;
        bits &= bits - 1;
        EACH_HIDDEN_BLOCK gradient[v] += delta[v];
    }
}
#endif

static inline void update_pixel(uint p, global const uint *masks, global const float16 *deltas, global float16 *hidden,
                                global SUM16 *integers, float4 rates, global const uchar *shades)
{
    float16 gradient[HIDDEN_BLOCKS];
    EACH_HIDDEN_BLOCK gradient[v] = (float16)(0.0f);
    for (uint t = 0; t < TILES; t += 2) {
        ulong bits = masks[t * PIXELS + p];
        if (t + 1 < TILES)
            bits |= (ulong)masks[(t + 1) * PIXELS + p] << TILE;
#ifdef GREY
        add_deltas(bits, deltas + t * TILE * HIDDEN_BLOCKS, shades + (t * PIXELS + p) * TILE, gradient);
#else
        add_deltas(bits, deltas + t * TILE * HIDDEN_BLOCKS, gradient);
#endif
    }
    update_hidden(p, gradient, hidden, integers, rates, HIDDEN_LIMIT);
}

static inline void update_output_rows(uint first_row, global const float *levels, global const float16 *score_deltas,
                                      global float16 *output, global float16 *integers, global float *turned, float4 rates)
{
    float16 gradient[OUTPUT_TILE][CLASS_BLOCKS];
    for (int i = 0; i < OUTPUT_TILE; i++)
        EACH_CLASS_BLOCK gradient[i][v] = (float16)(0.0f);
    for (uint s = 0; s < BATCH; s++)
        _Pragma("unroll") for (int i = 0; i < OUTPUT_TILE; i++)
            EACH_CLASS_BLOCK gradient[i][v] += levels[s * HIDDEN_LANES + first_row + i] * score_deltas[s * CLASS_BLOCKS + v];
    for (uint i = 0; i < OUTPUT_TILE && first_row + i < HIDDEN; i++) {
        const uint row = first_row + i;
        update_output(row, gradient[i], output, integers, rates, OUTPUT_LIMIT);
        for (int c = 0; c < CLASSES; c++)
            turned[c * HIDDEN_LANES + row] = USED(((global float *)output)[row * 3 * CLASS_LANES + c]);
    }
}

static inline void update_scalars(global const float2 *partial, global float *scalars, float4 rates)
{
    float2 totals = (float2)(0.0f);
    for (uint t = 0; t < TILES; t++)
        totals += partial[t];
#ifndef FLOAT_NET
    float16 temperature = (float16)(scalars[0]), first = (float16)(scalars[1]), second = (float16)(scalars[2]);
    descend(&temperature, &first, &second, (float16)(totals.y), rates, 1.0f, INFINITY);
    scalars[0] = temperature.s0;
    scalars[1] = first.s0;
    scalars[2] = second.s0;
#endif
    scalars[3] += totals.x / BATCH;
}

kernel void tile_update(global const uint *restrict masks, global const float *restrict levels,
                        global const float16 *restrict deltas, global const float16 *restrict score_deltas,
                        global const float2 *restrict partial, global const float4 *restrict rates_of_step,
                        global float16 *restrict hidden, global float16 *restrict output, global float *restrict scalars,
                        global SUM16 *restrict hidden_integers, global float16 *restrict output_integers,
                        global float *restrict turned, global uint *restrict state
#ifdef GREY
                        , global const uchar *restrict shades
#endif
                        )
{
#ifndef GREY
    global const uchar *shades = 0;
#endif
    uint item = get_global_id(0);
    if (item > PIXEL_ITEMS + OUTPUT_ITEMS)
        return;
    float4 rates = rates_of_step[state[1] - 1];

    if (item < PIXEL_ITEMS) {
        const uint end = min((item + 1) * PIXEL_TILE, (uint)PIXELS);
        for (uint p = item * PIXEL_TILE; p < end; p++)
            update_pixel(p, masks, deltas, hidden, hidden_integers, rates, shades);
        return;
    }
    item -= PIXEL_ITEMS;
    if (item < OUTPUT_ITEMS) {
        update_output_rows(item * OUTPUT_TILE, levels, score_deltas, output, output_integers, turned, rates);
        return;
    }

    rates.z = 0.0f; // biases do not decay
    float16 hidden_gradient[HIDDEN_BLOCKS], output_gradient[CLASS_BLOCKS];
    EACH_HIDDEN_BLOCK hidden_gradient[v] = (float16)(0.0f);
    EACH_CLASS_BLOCK output_gradient[v] = (float16)(0.0f);
    for (uint s = 0; s < BATCH; s++) {
        EACH_HIDDEN_BLOCK hidden_gradient[v] += deltas[s * HIDDEN_BLOCKS + v];
        EACH_CLASS_BLOCK output_gradient[v] += score_deltas[s * CLASS_BLOCKS + v];
    }
    update_hidden(PIXELS, hidden_gradient, hidden, hidden_integers, rates, BIAS_LIMIT);
    update_output(HIDDEN_LANES, output_gradient, output, output_integers, rates, BIAS_LIMIT);
    update_scalars(partial, scalars, rates);
    state[0] = state[1];
}
