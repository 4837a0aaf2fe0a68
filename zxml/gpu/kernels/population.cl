// population - many nets in training at once: a group is a net, and runs many steps a launch
//
// The batch passes in blocks of BLOCK samples. Nets narrower than UNITS have units that stay off. The two large matrix products,
// add_pixels and learn_pixels, are in population_squares.cl or population_matrix.cl.
//
// In         pictures (n, ROWS): a row a word, bit c = column c;  GREY: (n, PIXELS) bytes;  labels (n)
//            order (nets, MAX_STEPS, BATCH): which pictures;  rates (nets, rates_apart): from schedule.py, or where rates_apart is 0
//            the same for all nets;  widths (nets): units of each;  first, count: the steps to run
// In, out    hidden (nets, NET_FLOATS): weights and two moments, as the file of the products says, and BIASES (3, UNITS)
//            output (nets, UNITS + 1, 3, CLASS_LANES): weight and two moments; biases last
//            scalars (nets, 4): [0..2] log of the temperature's inverse and its moments, [3] the losses, summed over steps
// Scratch    all_deltas (nets, BLOCKS * BLOCK, UNITS), where BLOCKS > 1
// Sizes      lanes.cl, units.cl; MAX_STEPS

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void population(global Picture *restrict pictures, global const uchar *restrict labels, global const uint *restrict order,
                global const float4 *restrict rates_of_step, global const uint *restrict widths, global float *hidden,
                global float *output, global float *scalars, global float *all_deltas, uint rates_apart,
                uint first, uint count)
{
    local float sums[BLOCK * UNITS] __attribute__((aligned(16))); // of the hidden layer, and later its deltas
    local float scratch[3072] __attribute__((aligned(16)));
    local uint picked[BLOCKS * BLOCK];
    local float *score_deltas = scratch, *rows = scratch + BLOCK * ROW_FLOATS; // (BLOCK, ROW_FLOATS), (UNITS, ROW_FLOATS)
    const uint net = get_global_id(0) / GROUP, item = get_local_id(0), down = item / 8, across = item % 8; // of a square
    const uint mine = item % UNITS, half_of = item / UNITS; // of the output layer's gradient
    const uint width = widths[net];
    order += net * MAX_STEPS * BATCH;
    rates_of_step += net * rates_apart;
    hidden += (ulong)net * NET_FLOATS;
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

            add_pixels(pictures, picture, hidden, sums);
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
            float right[8][CLASSES];
            _Pragma("unroll") for (uint j = 0; j < 8; j++)
                _Pragma("unroll") for (uint c = 0; c < CLASSES; c++)
                    right[j][c] = rows[UNIT(j) * ROW_FLOATS + c];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = 0; i < 8; i++) {
                const float used = block * BLOCK + SAMPLE(i) < BATCH ? 1.0f : 0.0f;
                float left[CLASSES];
                _Pragma("unroll") for (uint c = 0; c < CLASSES; c++)
                    left[c] = score_deltas[SAMPLE(i) * ROW_FLOATS + c];
                _Pragma("unroll") for (uint j = 0; j < 8; j++) {
                    float back = 0.0f;
                    _Pragma("unroll") for (uint c = 0; c < CLASSES; c++)
                        back += left[c] * right[j][c];
                    const float2 found = delta_of(sums[SAMPLE(i) * UNITS + UNIT(j)], back);
                    sums[SAMPLE(i) * UNITS + UNIT(j)] = used * found.x;
                    loss += used * found.y;
                }
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
            descend_at(hidden + BIASES + item, UNITS, scratch[item] + scratch[item + UNITS], still, HIDDEN_STEP,
                       BIAS_LIMIT);
        if (item == 0) {
#ifndef FLOAT_NET
            descend_at(scalars, 1, both.y, still, 1.0f, INFINITY);
#endif
            scalars[3] += both.x / BATCH;
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        learn_pixels(pictures, picked, hidden, all_deltas, sums, scratch, rates);
        barrier(BOTH);
    }
}
