// population - many nets in training at once: a group is a net, and runs many steps a launch
//
// The batch passes in blocks of BLOCK samples. Nets narrower than UNITS have units that stay off. The two large matrix products,
// add_pixels and learn_pixels, are in population_squares.cl or population_matrix.cl, with open_pixels for what comes before the
// first step. What the output layer needs of its weights stays in local memory as long as a launch lasts.
//
// In         pictures (n, ROWS): a row a word, bit c = column c;  GREY: (n, PIXELS) bytes;  labels (n)
//            order (nets, MAX_STEPS, BATCH): which pictures;  rates (nets, rates_apart): from schedule.py, or where rates_apart is 0
//            the same for all nets;  widths (nets): units of each;  first, count: the steps to run
// In, out    hidden (nets, NET_FLOATS): weights and two moments, as the file of the products says, and BIASES (3, UNITS)
//            output (nets, UNITS + 1, 3, CLASS_LANES): weight and two moments; biases last
//            scalars (nets, 4): [0..2] log of the temperature's inverse and its moments, [3] the losses, summed over steps
// Scratch    all_deltas (nets, BLOCKS * BLOCK, UNITS), where BLOCKS > 1
// Sizes      lanes.cl, units.cl; MAX_STEPS; LEAVE_OUT: 0, or to see what time they take, bits of parts to leave out: sums of
//            pixels, scores, the output layer's gradient, gradients of pixels; weights are then wrong
// Source     register tiles: Volkov and Demmel, Benchmarking GPUs to tune dense linear algebra, SC 2008

// scores of a work-item's sample
static inline void add_scores(local const float *sums, local const float *rows, float (*scores)[A_QUAD])
{
    const uint item = get_local_id(0);
    float row[4], levels[4];
    EACH(q, QUADS) {
        load_four(rows, QUAD_AT(UNITS, q), row);
        EACH(k, A_QUAD) scores[q][k] = row[k];
    }
    for (uint four = 0; four < UNITS / 4; four++) {
        load_four(sums, FOUR_AT(item, four), levels);
        EACH(j, 4) {
            const float level = LEVEL(levels[j]); // a unit that is off has weights 0
            EACH(q, QUADS) {
                load_four(rows, QUAD_AT(4 * four + j, q), row);
                EACH(k, A_QUAD) scores[q][k] += level * row[k];
            }
        }
    }
}

// slopes = the loss's slopes by the scores of a work-item's sample, which counts 1 or 0; its loss is added to loss, and the
// slope by the scores' scale to warmth
static inline void slope_scores(float (*scores)[A_QUAD], uint label, float counts, float scale, local float *slopes,
                                float *loss, float *warmth)
{
    float most = -INFINITY, total = 0.0f, chances[QUADS][A_QUAD];
    EACH(q, QUADS) EACH(k, A_QUAD)
        if (CLASS(q, k) < CLASSES)
            most = fmax(most, scores[q][k] * scale);
    EACH(q, QUADS) EACH(k, A_QUAD)
        if (CLASS(q, k) < CLASSES)
            total += chances[q][k] = exp(scores[q][k] * scale - most);
    const float part = 1.0f / total, slope = counts * (scale / BATCH), least = most + log(total);
    EACH(q, QUADS) {
        float row[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        EACH(k, A_QUAD)
            if (CLASS(q, k) < CLASSES) {
                const float right = CLASS(q, k) == label ? 1.0f : 0.0f;
                row[k] = slope * (chances[q][k] * part - right);
                *loss += counts * right * (least - scores[q][k] * scale);
                *warmth += row[k] * scores[q][k];
            }
        store_four(slopes, QUAD_AT(get_local_id(0), q), row);
    }
}

// where a work-item's part of the output layer's gradient lies: two units from `unit` on, a quad of classes
#define MY_UNIT ((uint)get_local_id(0) / 32 * 16 + (uint)get_local_id(0) % 8 * 2)
#define MY_QUAD ((uint)get_local_id(0) / 8 % 4)

static inline void add_gradient(local const float *sums, local const float *slopes, float (*gradient)[A_QUAD])
{
    const uint unit = MY_UNIT, quad = MY_QUAD;
    uint places[UNITS / 4]; // of a round's samples; those of the next lie as far apart
    EACH(s, UNITS / 4) places[s] = SUM_AT(s, unit);
    for (uint top = 0; top < BLOCK; top += UNITS / 4)
        EACH(s, UNITS / 4) {
            float row[4];
            const float2 pair = vload2(0, sums + top * UNITS + places[s]);
            const float levels[2] = {LEVEL(pair.x), LEVEL(pair.y)};
            load_four(slopes, top * 4 + QUAD_AT(s, quad), row);
            EACH(j, 2) EACH(k, A_QUAD) gradient[j][k] += levels[j] * row[k];
        }
}

// back (8 samples, 8 units) = the loss's slopes by the levels of a work-item's square
static inline void slope_levels(local const float *rows, local const float *slopes, float (*back)[8])
{
    const uint down = get_local_id(0) / 8, across = get_local_id(0) % 8;
    EACH(i, 8) EACH(j, 8) back[i][j] = 0.0f;
    EACH(q, QUADS) {
        float left[4], right[8][4];
        EACH(j, 8) load_four(rows, QUAD_AT(UNIT(j), q), right[j]);
        EACH(i, 8) {
            load_four(slopes, QUAD_AT(SAMPLE(i), q), left);
            EACH(j, 8) EACH(k, A_QUAD) back[i][j] += left[k] * right[j][k];
        }
    }
}

// sums become the loss's slopes by them, which are added to biases (8 units); the penalty for sums' sizes is added to the loss
static inline void slope_sums(local float *sums, float (*back)[8], uint samples, float *biases, float *loss)
{
    const uint down = get_local_id(0) / 8, across = get_local_id(0) % 8;
    EACH(i, 8) EACH(part, 2) {
        float four[4];
        const uint place = FOUR_AT(SAMPLE(i), part * (UNITS / 8) + across);
        const float used = BATCH % BLOCK == 0 || SAMPLE(i) < samples ? 1.0f : 0.0f;
        load_four(sums, place, four);
        EACH(k, 4) {
            const float2 found = delta_of(four[k], back[i][4 * part + k]);
            four[k] = used * found.x;
#ifndef FLOAT_NET
            *loss += used * found.y;
#endif
            biases[4 * part + k] += four[k];
        }
        store_four(sums, place, four);
    }
}

static inline float sum_of(local const float *floats, uint count, uint apart)
{
    float sum = 0.0f;
    _Pragma("unroll 16") for (uint i = 0; i < count; i++)
        sum += floats[i * apart];
    return sum;
}

// rows (UNITS + 1, ROW_FLOATS), biases (UNITS, and the temperature) as they are used
static inline void load_small(global const float *hidden, global const float *output, global const float *scalars,
                              local float *rows, local float *biases)
{
    const uint item = get_local_id(0);
    for (uint i = item; i < (UNITS + 1) * ROW_FLOATS; i += GROUP) {
        const uint row = i / ROW_FLOATS, q = i / 4 % 4, k = i % 4;
        const float weight = output[row * 3 * CLASS_LANES + min(CLASS(q, k), CLASSES - 1u)];
        rows[QUAD_AT(row, q) * 4 + k] = k < A_QUAD && CLASS(q, k) < CLASSES ? USED(weight) : 0.0f;
    }
    biases[item % UNITS] = USED(hidden[BIASES + item % UNITS]);
    biases[UNITS] = scalars[0];
}

// one step of a work-item's part of the output layer's weights, which it holds
static inline void learn_rows(global float *output, uint width, float (*weights)[A_QUAD][3], float (*gradient)[A_QUAD], float4 rates,
                              local float *rows)
{
    EACH(j, 2) EACH(k, A_QUAD)
        if (CLASS(MY_QUAD, k) < CLASSES && MY_UNIT + j < width) {
            descend_held(output + (MY_UNIT + j) * 3 * CLASS_LANES + CLASS(MY_QUAD, k), CLASS_LANES, weights[j][k], gradient[j][k],
                         rates, OUTPUT_STEP, OUTPUT_LIMIT);
            rows[QUAD_AT(MY_UNIT + j, MY_QUAD) * 4 + k] = USED(weights[j][k][0]);
        }
}

// one step of the biases and the temperature, by parts of gradients (8 units), of a bias of the classes, of the temperature;
// of what is stored in rows and biases nobody may read before the next barrier
static inline void learn_biases(global float *hidden, global float *output, global float *scalars, const float *unit_parts,
                                float class_part, float warmth, float4 rates, local float *scratch, local float *rows,
                                local float *biases)
{
    const float4 still = (float4)(rates.x, rates.y, 0.0f, 0.0f); // biases do not decay
    const uint item = get_local_id(0), unit = item % UNITS, slot = item % ROW_FLOATS;
    const uint number = min(CLASS(slot / 4, slot % 4), CLASSES - 1u);
    local float *class_parts = scratch + UNITS * 16, *warmths = class_parts + GROUP; // (8, ROW_FLOATS), (GROUP)
    float unit_bias[3], class_bias[3], heat[3];
    load_weight(hidden + BIASES + unit, UNITS, unit_bias);
    load_weight(output + UNITS * 3 * CLASS_LANES + number, CLASS_LANES, class_bias);
    load_weight(scalars, 1, heat);
    store_four(scratch, item / 8 * 16 + item % 8, unit_parts); // (16, UNITS)
    store_four(scratch, item / 8 * 16 + 8 + item % 8, unit_parts + 4);
    class_parts[item] = class_part;
    warmths[item] = warmth;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < UNITS) {
        descend_held(hidden + BIASES + unit, UNITS, unit_bias, sum_of(scratch + unit, 16, UNITS), still, HIDDEN_STEP, BIAS_LIMIT);
        biases[unit] = USED(unit_bias[0]);
    } else if (item < UNITS + ROW_FLOATS && slot % 4 < A_QUAD && CLASS(slot / 4, slot % 4) < CLASSES) {
        descend_held(output + UNITS * 3 * CLASS_LANES + number, CLASS_LANES, class_bias,
                     sum_of(class_parts + slot, GROUP / ROW_FLOATS, ROW_FLOATS), still, OUTPUT_STEP, BIAS_LIMIT);
        rows[QUAD_AT(UNITS, slot / 4) * 4 + slot % 4] = USED(class_bias[0]);
    }
#ifndef FLOAT_NET
    if (item == GROUP - 1) {
        descend_held(scalars, 1, heat, sum_of(warmths, GROUP, 1), still, 1.0f, INFINITY);
        biases[UNITS] = heat[0];
    }
#endif
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void population(global Picture *restrict pictures, global const uchar *restrict labels, global const uint *restrict order,
                global const float4 *restrict rates_of_step, global const uint *restrict widths, global float *hidden,
                global float *output, global float *scalars, global float *all_deltas, uint rates_apart,
                uint first, uint count)
{
    local float sums[BLOCK * UNITS] __attribute__((aligned(16))); // of the hidden layer, and later the loss's slopes by them
    local float scratch[BLOCK * ROW_FLOATS] __attribute__((aligned(16))); // slopes by the scores, and later parts of sums
    local float rows[(UNITS + 1) * ROW_FLOATS] __attribute__((aligned(16))); // output weights and biases as they are used
    local float biases[UNITS + 1]; // as they are used; last, the temperature
    local uint picked[BLOCKS * BLOCK];
    const uint net = get_global_id(0) / GROUP, item = get_local_id(0), width = widths[net];
    order += net * MAX_STEPS * BATCH;
    rates_of_step += net * rates_apart;
    hidden += (ulong)net * NET_FLOATS;
    output += net * (UNITS + 1) * 3 * CLASS_LANES;
    scalars += net * 4;
    all_deltas += net * BLOCKS * BLOCK * UNITS;
    float loss = 0.0f;

    load_small(hidden, output, scalars, rows, biases);
    barrier(CLK_LOCAL_MEM_FENCE);
    open_pixels(pictures, order[first * BATCH + min(item, BATCH - 1u)], hidden, biases, sums, first);

    for (uint step = first; step < first + count; step++) {
        const float4 rates = rates_of_step[step];
        const uint next = order[min(step + 1, first + count - 1) * BATCH + min(item, BATCH - 1u)];
        const float scale = exp(biases[UNITS]) * LOGIT_SCALE;
        float gradient[2][A_QUAD], weights[2][A_QUAD][3], unit_parts[8], class_part = 0.0f, warmth = 0.0f;
        EACH(j, 2) EACH(k, A_QUAD) gradient[j][k] = 0.0f;
        EACH(j, 8) unit_parts[j] = 0.0f;

        for (uint block = 0; block < BLOCKS; block++) {
            const uint sample = block * BLOCK + item, picture = order[step * BATCH + min(sample, BATCH - 1u)];
            const uint label = labels[picture];
            float back[8][8];
            picked[sample] = picture;
            add_pixels(pictures, picture, hidden, biases, sums);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (DOES(1)) {
                float scores[QUADS][A_QUAD];
                add_scores(sums, rows, scores);
                slope_scores(scores, label, sample < BATCH ? 1.0f : 0.0f, scale, scratch, &loss, &warmth);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (DOES(2)) {
                EACH(j, 2) EACH(k, A_QUAD)
                    load_weight(output + (MY_UNIT + j) * 3 * CLASS_LANES + min(CLASS(MY_QUAD, k), CLASSES - 1u), CLASS_LANES,
                                weights[j][k]);
                add_gradient(sums, scratch, gradient);
                slope_levels(rows, scratch, back);
                EACH(s, ROW_FLOATS)
                    class_part += scratch[QUAD_AT(item / 16 * 16 + s, item / 4 % 4) * 4 + item % 4];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (DOES(2))
                slope_sums(sums, back, BATCH - block * BLOCK, unit_parts, &loss);
#if BLOCKS > 1
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = item; i < BLOCK * UNITS / 4; i += GROUP)
                vstore4(vload4(i, sums), i, all_deltas + block * BLOCK * UNITS);
            barrier(BOTH);
#endif
        }
        if (DOES(2))
            learn_rows(output, width, weights, gradient, rates, rows);
        learn_biases(hidden, output, scalars, unit_parts, class_part, warmth, rates, scratch, rows, biases);
        learn_pixels(pictures, picked, next, hidden, biases, all_deltas, sums, scratch, step, rates);
    }
    barrier(BOTH);
    scratch[item] = loss;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        scalars[3] += sum_of(scratch, GROUP, 1) / BATCH;
}
