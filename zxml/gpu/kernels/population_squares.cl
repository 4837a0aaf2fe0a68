// population_squares - the two large matrix products of population.cl, in plain arithmetic
//
// A work-item holds a square of 8 x 8 sums in registers: samples by units forward, pixels by units for the gradient.
//
// Sizes      population.cl; ROUND_ROWS, SQUARE_ROWS: rows of the picture, and pixels a work-item, in one round of the gradient:
//            16 * SQUARE_ROWS >= ROUND_ROWS * COLS
// Source     register tiles: Volkov and Demmel, Benchmarking GPUs to tune dense linear algebra, SC 2008

#define BIASES (PIXELS * 3 * UNITS) // in hidden (PIXELS + 1, 3, UNITS): weight and two moments, the biases last
#define NET_FLOATS ((PIXELS + 1) * 3 * UNITS)
#define STRIP 16 // samples a pass of the gradient takes
#define WEIGHT_LOADS ((COLS * UNITS / 4 + GROUP - 1) / GROUP)

// a work-item's fours of the weights (COLS, 3, UNITS) of a row of the picture; who has none left loads the last
static inline void load_weights(global const float *weights, float4 *loaded)
{
    _Pragma("unroll") for (uint k = 0; k < WEIGHT_LOADS; k++) {
        const uint four = min((uint)get_local_id(0) + k * GROUP, COLS * UNITS / 4 - 1u);
        loaded[k] = vload4(four % (UNITS / 4), weights + four / (UNITS / 4) * 3 * UNITS);
    }
}

// square += one column of x (8 values) times one row of y
static inline void add_square(float (*square)[8], const float4 *x, const float4 *y)
{
    const float left[8] = {x[0].x, x[0].y, x[0].z, x[0].w, x[1].x, x[1].y, x[1].z, x[1].w};
    const float right[8] = {y[0].x, y[0].y, y[0].z, y[0].w, y[1].x, y[1].y, y[1].z, y[1].w};
    _Pragma("unroll") for (uint i = 0; i < 8; i++)
        _Pragma("unroll") for (uint j = 0; j < 8; j++)
            square[i][j] += left[i] * right[j];
}

static inline void descend_four(global float *place, const float *gradients, float4 rates)
{
    float4 weight = vload4(0, place), one = vload4(0, place + UNITS), two = vload4(0, place + 2 * UNITS);
    float weights[4] = {weight.x, weight.y, weight.z, weight.w}, ones[4] = {one.x, one.y, one.z, one.w},
          twos[4] = {two.x, two.y, two.z, two.w};
    _Pragma("unroll") for (uint k = 0; k < 4; k++)
        descend(weights + k, ones + k, twos + k, gradients[k], rates, HIDDEN_STEP, HIDDEN_LIMIT);
    vstore4((float4)(weights[0], weights[1], weights[2], weights[3]), 0, place);
    vstore4((float4)(ones[0], ones[1], ones[2], ones[3]), 0, place + UNITS);
    vstore4((float4)(twos[0], twos[1], twos[2], twos[3]), 0, place + 2 * UNITS);
}

static inline void open_pixels(global Picture *pictures, uint picture, global const float *hidden, local const float *biases,
                               local float *sums, uint step)
{
}

// sums (BLOCK, UNITS) = pixels * weights + biases; a row of the pictures at a time
static inline void add_pixels(global Picture *pictures, uint picture, global const float *hidden, local const float *biases,
                              local float *sums)
{
    const uint item = get_local_id(0), down = item / 8, across = item % 8;
    local float *seen = sums, *weights = sums + COLS * BLOCK; // (COLS, BLOCK), (COLS, UNITS)
    float square[8][8];
    uint words[ROW_WORDS];
    float4 loaded[WEIGHT_LOADS];
    for (uint i = 0; i < 8; i++)
        for (uint j = 0; j < 8; j++)
            square[i][j] = 0.0f;
    load_row(pictures, picture, 0, words);
    load_weights(hidden, loaded);
    for (uint row = 0; row < ROWS; row++) {
        barrier(BOTH);
        _Pragma("unroll") for (uint c = 0; c < COLS; c++)
            seen[c * BLOCK + item] = PIXEL(words, c);
        _Pragma("unroll") for (uint k = 0; k < WEIGHT_LOADS; k++)
            vstore4(USED(loaded[k]), min(item + k * GROUP, COLS * UNITS / 4 - 1u), weights);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint next = min(row + 1, ROWS - 1u); // on its way while this row is multiplied
        load_row(pictures, picture, next, words);
        load_weights(hidden + next * COLS * 3 * UNITS, loaded);
        _Pragma("unroll 4") for (uint c = 0; c < COLS; c++) {
            const float4 x[2] = {vload4(down, seen + c * BLOCK), vload4(down + 16, seen + c * BLOCK)};
            const float4 y[2] = {vload4(across, weights + c * UNITS), vload4(across + 8, weights + c * UNITS)};
            add_square(square, x, y);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 8; j++)
        for (uint i = 0; i < 8; i++)
#ifdef GREY
            sums[SUM_AT(SAMPLE(i), UNIT(j))] = square[i][j] * GREY_STEP + biases[UNIT(j)];
#else
            sums[SUM_AT(SAMPLE(i), UNIT(j))] = square[i][j] + biases[UNIT(j)];
#endif
}

// one step of the pixels' weights: ROUND_ROWS rows a round, STRIP samples at a time; sums: the loss's slopes by the sums
static inline void learn_pixels(global Picture *pictures, local const uint *picked, uint next_picture, global float *hidden,
                                local const float *biases, global const float *all_deltas, local float *sums,
                                local float *scratch, uint step, float4 rates)
{
    const uint item = get_local_id(0), down = item / 8, across = item % 8;
    local float *seen = scratch; // (STRIP, 16, 8)
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < STRIP * GROUP; i += GROUP)
        seen[i] = 0.0f;
    for (uint top = 0; top < ROWS; top += ROUND_ROWS) {
        float square[8][8];
        for (uint i = 0; i < 8; i++)
            for (uint j = 0; j < 8; j++)
                square[i][j] = 0.0f;
        for (uint block = 0; block < BLOCKS; block++) {
#if BLOCKS > 1
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = item; i < BLOCK * UNITS / 4; i += GROUP)
                vstore4(vload4(i, all_deltas + block * BLOCK * UNITS), i, sums);
#endif
            const uint s = min(item / ROUND_ROWS, STRIP - 1u), row = top + item % ROUND_ROWS;
            uint words[ROW_WORDS];
            load_row(pictures, picked[block * BLOCK + s], min(row, ROWS - 1u), words);
            for (uint strip = 0; strip < min((uint)BLOCK, BATCH - block * BLOCK); strip += STRIP) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (item < STRIP * ROUND_ROWS)
                    _Pragma("unroll") for (uint c = 0; c < COLS; c++) {
                        const uint p = item % ROUND_ROWS * COLS + c;
                        seen[s * GROUP + p / SQUARE_ROWS * 8 + p % SQUARE_ROWS] = row < ROWS ? PIXEL(words, c) : 0.0f;
                    }
                barrier(CLK_LOCAL_MEM_FENCE);
                const uint next = min(strip + STRIP, BLOCK - (uint)STRIP);
                load_row(pictures, picked[block * BLOCK + next + s], min(row, ROWS - 1u), words);
                _Pragma("unroll 4") for (uint k = 0; k < STRIP; k++) {
                    const float4 x[2] = {vload4(2 * down, seen + k * GROUP), vload4(2 * down + 1, seen + k * GROUP)};
                    const float4 y[2] = {vload4(FOUR_AT(strip + k, across), sums),
                                         vload4(FOUR_AT(strip + k, across + 8), sums)};
                    add_square(square, x, y);
                }
            }
        }
        _Pragma("unroll") for (uint i = 0; i < SQUARE_ROWS; i++) {
            const uint p = down * SQUARE_ROWS + i;
            if (p < ROUND_ROWS * COLS && top * COLS + p < PIXELS) {
                global float *place = hidden + (top * COLS + p) * 3 * UNITS;
#ifdef GREY
                for (uint j = 0; j < 8; j++)
                    square[i][j] *= GREY_STEP;
#endif
                descend_four(place + across * 4, square[i], rates);
                descend_four(place + UNITS / 2 + across * 4, square[i] + 4, rates);
            }
        }
    }
    barrier(BOTH);
}
