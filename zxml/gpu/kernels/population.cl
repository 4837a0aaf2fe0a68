// population - many nets in training at once: a group is a net, and runs many steps a launch
//
// A work-item holds a square of 8 x 8 sums of a matrix product in registers: samples by units forward, pixels by units for the
// gradient. The batch passes in blocks of BLOCK samples. Nets narrower than UNITS have units that stay off.
//
// In         pictures (n, ROWS): a row a word, bit c = column c;  GREY: (n, PIXELS) bytes;  labels (n)
//            order (nets, MAX_STEPS, BATCH): which pictures;  rates (nets, MAX_STEPS): from schedule.py;  widths (nets): units of each
//            first, count: the steps to run
// In, out    hidden (nets, PIXELS + 1, 3, UNITS), output (nets, UNITS + 1, 3, CLASS_LANES): weight and two moments; biases last
//            scalars (nets, 4): [0..2] log of the temperature's inverse and its moments, [3] the losses, summed over steps
// Scratch    all_deltas (nets, BLOCKS * BLOCK, UNITS), where BLOCKS > 1
// Sizes      lanes.cl, units.cl; MAX_STEPS; ROUND_ROWS, SQUARE_ROWS: rows of the picture, and pixels a work-item, in one round of
//            the gradient: 16 * SQUARE_ROWS >= ROUND_ROWS * COLS
// Source     register tiles: Volkov and Demmel, Benchmarking GPUs to tune dense linear algebra, SC 2008

#define GROUP 128
#define BLOCK 128 // samples
#define BLOCKS ((BATCH + BLOCK - 1) / BLOCK)
#define UNITS 64
#define STRIP 16 // samples a pass of the gradient takes
#define ROW_FLOATS ((CLASSES + 3) / 4 * 4)
#define HALF_CLASSES ((CLASSES + 1) / 2)
#define WEIGHT_LOADS ((COLS * UNITS / 4 + GROUP - 1) / GROUP)
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#ifdef GREY
typedef const uchar Picture;
#define ROW_WORDS (COLS / 4)
#define PIXEL(row, c) ((float)((row)[(c) / 4] >> 8 * ((c) % 4) & 255u))
#else
typedef const uint Picture;
#define ROW_WORDS 1
#define PIXEL(row, c) ((float)((row)[0] >> (c) & 1u))
#endif

// the 8 samples and the 8 units of a work-item's square are two fours each, so that fours lie side by side in local memory
#define SAMPLE(i) ((i) < 4 ? down * 4 + (i) : BLOCK / 2 + down * 4 + (i) - 4)
#define UNIT(j) ((j) < 4 ? across * 4 + (j) : UNITS / 2 + across * 4 + (j) - 4)

static inline void load_row(global Picture *pictures, uint picture, uint row, uint *words)
{
#ifdef GREY
    global const uint *place = (global const uint *)(pictures + picture * PIXELS + row * COLS);
#else
    global const uint *place = pictures + picture * ROWS + row;
#endif
    _Pragma("unroll") for (uint k = 0; k < ROW_WORDS; k++)
        words[k] = place[k];
}

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

// one step of the optimiser on a weight of a table (rows, 3, apart)
static inline void descend_at(global float *place, uint apart, float gradient, float4 rates, float step, float limit)
{
    float weight = place[0], one = place[apart], two = place[2 * apart];
    descend(&weight, &one, &two, gradient, rates, step, limit);
    place[0] = weight;
    place[apart] = one;
    place[2 * apart] = two;
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

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void population(global Picture *restrict pictures, global const uchar *restrict labels, global const uint *restrict order,
                global const float4 *restrict rates_of_step, global const uint *restrict widths, global float *hidden,
                global float *output, global float *scalars, global float *all_deltas, uint first, uint count)
{
    local float sums[BLOCK * UNITS] __attribute__((aligned(16))); // of the hidden layer, and later its deltas
    local float scratch[3072] __attribute__((aligned(16)));
    local uint picked[BLOCKS * BLOCK];
    local float *score_deltas = scratch, *rows = scratch + BLOCK * ROW_FLOATS; // (BLOCK, ROW_FLOATS), (UNITS, ROW_FLOATS)
    const uint net = get_group_id(0), item = get_local_id(0), down = item / 8, across = item % 8;
    const uint mine = item % UNITS, half_of = item / UNITS; // of the output layer's gradient
    const uint width = widths[net];
    order += net * MAX_STEPS * BATCH;
    rates_of_step += net * MAX_STEPS;
    hidden += net * (PIXELS + 1) * 3 * UNITS;
    output += net * (UNITS + 1) * 3 * CLASS_LANES;
    scalars += net * 4;
    all_deltas += net * BLOCKS * BLOCK * UNITS;

    for (uint step = first; step < first + count; step++) {
        const float4 rates = rates_of_step[step];
        const float4 still = (float4)(rates.x, rates.y, 0.0f, 0.0f); // biases do not decay
        const float scale = exp(scalars[0]) * LOGIT_SCALE;
        float loss = 0.0f, warmth = 0.0f, unit_bias = 0.0f, score_bias = 0.0f, gradient[HALF_CLASSES];
        for (uint c = 0; c < HALF_CLASSES; c++)
            gradient[c] = 0.0f;

        for (uint block = 0; block < BLOCKS; block++) {
            const uint sample = block * BLOCK + item;
            const uint picture = order[step * BATCH + min(sample, BATCH - 1u)], label = labels[picture];
            picked[sample] = picture;

            // sums = pixels * weights; a row of the pictures at a time
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
            for (uint j = 0; j < 8; j++) {
                const float bias = USED(hidden[PIXELS * 3 * UNITS + UNIT(j)]);
                for (uint i = 0; i < 8; i++)
#ifdef GREY
                    sums[SAMPLE(i) * UNITS + UNIT(j)] = square[i][j] * GREY_STEP + bias;
#else
                    sums[SAMPLE(i) * UNITS + UNIT(j)] = square[i][j] + bias;
#endif
            }
            for (uint i = item; i < UNITS * ROW_FLOATS; i += GROUP) {
                const uint c = i % ROW_FLOATS;
                const float weight = output[i / ROW_FLOATS * 3 * CLASS_LANES + min(c, CLASSES - 1u)];
                rows[i] = c < CLASSES ? USED(weight) : 0.0f;
            }
            barrier(CLK_LOCAL_MEM_FENCE);

            // a sample a work-item: scores, and the loss's slopes by them
            float scores[ROW_FLOATS];
            for (uint c = 0; c < ROW_FLOATS; c++)
                scores[c] = c < CLASSES ? USED(output[UNITS * 3 * CLASS_LANES + c]) : 0.0f;
            _Pragma("unroll 4") for (uint k = 0; k < UNITS; k++) {
                const uint j = (k + item) % UNITS; // all start at different banks
                const float level = j < width ? LEVEL(sums[item * UNITS + j]) : 0.0f;
                _Pragma("unroll") for (uint c = 0; c < CLASSES; c++)
                    scores[c] += level * rows[j * ROW_FLOATS + c];
            }
            float most = scores[0] * scale, total = 0.0f;
            for (uint c = 1; c < CLASSES; c++)
                most = fmax(most, scores[c] * scale);
            for (uint c = 0; c < CLASSES; c++)
                total += exp(scores[c] * scale - most);
            const float counts = sample < BATCH ? 1.0f : 0.0f;
            for (uint c = 0; c < ROW_FLOATS; c++) {
                const float right = c == label ? 1.0f : 0.0f;
                const float chance = c < CLASSES ? exp(scores[c] * scale - most) / total : 0.0f;
                const float delta = counts * (chance - right) * (scale / BATCH);
                score_deltas[item * ROW_FLOATS + c] = delta;
                warmth += delta * scores[c];
                loss += counts * right * (most + log(total) - scores[c] * scale);
            }
            barrier(CLK_LOCAL_MEM_FENCE);

            _Pragma("unroll 4") for (uint s = 0; s < BLOCK; s++) {
                const float level = mine < width ? LEVEL(sums[s * UNITS + mine]) : 0.0f;
                _Pragma("unroll") for (uint c = 0; c < HALF_CLASSES; c++)
                    gradient[c] += level * score_deltas[s * ROW_FLOATS + half_of * HALF_CLASSES + c];
                score_bias += score_deltas[s * ROW_FLOATS + item % ROW_FLOATS];
            }
            for (uint i = 0; i < 8; i++)
                for (uint j = 0; j < 8; j++) {
                    float back = 0.0f;
                    for (uint c = 0; c < CLASSES; c++)
                        back += score_deltas[SAMPLE(i) * ROW_FLOATS + c] * rows[UNIT(j) * ROW_FLOATS + c];
                    square[i][j] = back;
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = 0; i < 8; i++)
                for (uint j = 0; j < 8; j++) {
                    const float used = block * BLOCK + SAMPLE(i) < BATCH ? 1.0f : 0.0f;
                    const float2 found = delta_of(sums[SAMPLE(i) * UNITS + UNIT(j)], square[i][j]);
                    sums[SAMPLE(i) * UNITS + UNIT(j)] = used * found.x;
                    loss += used * found.y;
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            _Pragma("unroll 4") for (uint s = 0; s < BLOCK / 2; s++)
                unit_bias += sums[(half_of * BLOCK / 2 + s) * UNITS + mine];
#if BLOCKS > 1
            for (uint i = item; i < BLOCK * UNITS / 4; i += GROUP)
                vstore4(vload4(i, sums), i, all_deltas + block * BLOCK * UNITS);
            barrier(BOTH);
#endif
        }

        scratch[item] = unit_bias;
        scratch[GROUP + item] = loss;
        scratch[2 * GROUP + item] = warmth;
        barrier(BOTH);
        float2 both = (float2)(0.0f);
        _Pragma("unroll 8") for (uint k = 0; k < GROUP; k++)
            both += (float2)(scratch[GROUP + k], scratch[2 * GROUP + k]);
        for (uint c = 0; c < HALF_CLASSES; c++)
            if (half_of * HALF_CLASSES + c < CLASSES && mine < width)
                descend_at(output + mine * 3 * CLASS_LANES + half_of * HALF_CLASSES + c, CLASS_LANES, gradient[c], rates, OUTPUT_STEP,
                           OUTPUT_LIMIT);
        if (item < CLASSES)
            descend_at(output + UNITS * 3 * CLASS_LANES + item, CLASS_LANES, score_bias, still, OUTPUT_STEP, BIAS_LIMIT);
        if (item < UNITS)
            descend_at(hidden + PIXELS * 3 * UNITS + item, UNITS, scratch[item] + scratch[item + UNITS], still, HIDDEN_STEP,
                       BIAS_LIMIT);
        if (item == 0) {
#ifndef FLOAT_NET
            descend_at(scalars, 1, both.y, still, 1.0f, INFINITY);
#endif
            scalars[3] += both.x / BATCH;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        // gradients of the pixels' weights: ROUND_ROWS rows a round, STRIP samples at a time; seen (STRIP, 16, 8)
        local float *seen = scratch;
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
                        const float4 y[2] = {vload4(across, sums + (strip + k) * UNITS),
                                             vload4(across + 8, sums + (strip + k) * UNITS)};
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
}
