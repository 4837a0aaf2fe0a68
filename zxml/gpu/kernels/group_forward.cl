// group_forward - first half of a training step for a GPU: pictures of bits to the deltas of both layers
//
// A work-group runs one sample, a work-item a hidden unit. What it computes, and In and Out, are as in tile_forward.cl, but
// partial (BATCH) has an entry a sample, and masks must be 0 before, as group_update.cl leaves them.
//
// Sizes      as in tile_forward.cl; the local size is HIDDEN_LANES

// the loss's slope by a hidden sum: slope, its slope by the level, through the ramp, and from the range penalty, added to *penalty
static inline float delta_of(float sum, float slope, local float *penalty)
{
    const float level = sum * (1.0f / (1 << SHIFT));
    float over = (fabs(sum) - SAFE_PART * HALF_RANGE) * (1.0f / HALF_RANGE);
    over = over > 0.0f ? over : 0.0f;
    *penalty = RANGE_PENALTY * (over + over * over);
    float push = over > 0.0f ? (1.0f + 2.0f * over) * (RANGE_PENALTY / HALF_RANGE / BATCH) : 0.0f;
    push = sum < 0.0f ? -push : push;
    return ((level > -0.5f && level < LEVELS - 0.5f) ? slope * (1.0f / (1 << SHIFT)) : 0.0f) + push;
}

kernel __attribute__((reqd_work_group_size(HIDDEN_LANES, 1, 1)))
void group_forward(global const uint *restrict pictures, global const uchar *restrict labels, global const uint *restrict order,
                   global const SUM *restrict hidden, global const float *restrict output, global const float *restrict turned,
                   global const float *restrict scalars, global uint *restrict masks, global float *restrict levels,
                   global float *restrict deltas, global float *restrict score_deltas, global float2 *restrict partial,
                   global uint *restrict state)
{
    local uint rows[ROWS];
    local float active[HIDDEN_LANES], penalties[HIDDEN_LANES], scores[CLASSES], back[CLASSES];
    const uint sample = get_group_id(0), lane = get_local_id(0), step = state[0];
    const uint picture = order[step * BATCH + sample], label = labels[picture];
    const float scale = exp(scalars[0]) * LOGIT_SCALE;
    if (sample == 0 && lane == 0)
        state[1] = step + 1;

    for (uint r = lane; r < ROWS; r += HIDDEN_LANES) {
        rows[r] = pictures[picture * ROWS + r];
        for (uint rest = rows[r]; rest; rest &= rest - 1)
            atomic_or(masks + sample / TILE * PIXELS + r * COLS + LOWEST_BIT((ulong)rest), 1u << sample % TILE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    int sum = hidden[PIXELS * HIDDEN_LANES + lane];
    for (uint r = 0; r < ROWS; r++)
        for (uint rest = rows[r]; rest; rest &= rest - 1)
            sum += hidden[(r * COLS + LOWEST_BIT((ulong)rest)) * HIDDEN_LANES + lane];
    active[lane] = clamp((sum >> SHIFT) + 1, 0, LEVELS);
    levels[sample * HIDDEN_LANES + lane] = active[lane];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint c = lane; c < CLASSES; c += HIDDEN_LANES) {
        float score = output[HIDDEN_LANES * CLASS_LANES + c];
        for (uint j = 0; j < HIDDEN; j++)
            score += active[j] * output[j * CLASS_LANES + c];
        scores[c] = score;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float most = scores[0] * scale, total = 0.0f;
    for (uint c = 1; c < CLASSES; c++)
        most = fmax(most, scores[c] * scale);
    for (uint c = 0; c < CLASSES; c++)
        total += exp(scores[c] * scale - most);
    for (uint c = lane; c < CLASS_LANES; c += HIDDEN_LANES) {
        float slope = 0.0f;
        if (c < CLASSES)
            back[c] = slope = (exp(scores[c] * scale - most) / total - (c == label ? 1.0f : 0.0f)) * (scale / BATCH);
        score_deltas[sample * CLASS_LANES + c] = slope;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float slope = 0.0f;
    for (uint c = 0; c < CLASSES; c++)
        slope += back[c] * turned[c * HIDDEN_LANES + lane];
    deltas[sample * HIDDEN_LANES + lane] = delta_of(sum, slope, penalties + lane);
    barrier(CLK_LOCAL_MEM_FENCE);

    if (lane == 0) {
        float2 result = (float2)(most + log(total) - scores[label] * scale, 0.0f);
        for (uint j = 0; j < HIDDEN; j++)
            result.x += penalties[j];
        for (uint c = 0; c < CLASSES; c++)
            result.y += back[c] * scores[c];
        partial[sample] = result;
    }
}
