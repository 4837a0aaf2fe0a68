// group_forward - first half of a training step for a GPU: pictures of bits to the deltas of both layers
//
// A work-group runs one sample; PARTS work-items share a hidden unit, each adding a part of the set pixels, eight loads at a time.
// What it computes, and In and Out, are as in tile_forward.cl, but partial (BATCH) has an entry a sample, and masks must be 0
// before, as group_update.cl leaves them.
//
// Sizes      as in tile_forward.cl, units.cl; PARTS; the local size is PARTS * HIDDEN_LANES

#define SIZE (PARTS * HIDDEN_LANES)
#define SHARES ((SIZE + CLASS_LANES - 1) / CLASS_LANES) // work-items that share a score

kernel __attribute__((reqd_work_group_size(SIZE, 1, 1)))
void group_forward(global const uint *restrict pictures, global const uchar *restrict labels, global const uint *restrict order,
                   global const SUM *restrict hidden, global const float *restrict output, global const float *restrict turned,
                   global const float *restrict scalars, global uint *restrict masks, global float *restrict levels,
                   global float *restrict deltas, global float *restrict score_deltas, global float2 *restrict partial,
                   global uint *restrict state
#ifdef GREY
                   , global const uchar *restrict greys, global uchar *restrict shades
#endif
                   )
{
#ifdef GREY
    local uchar seen[PIXELS];
#endif
    local uint rows[ROWS], counts[ROWS];
    local ushort set[PIXELS]; // the numbers of the set pixels, in order
    local SUM_REAL parts[SIZE];
    local float active[HIDDEN_LANES], penalties[HIDDEN_LANES], shares[SHARES * CLASS_LANES], scores[CLASSES], back[CLASSES];
    const uint sample = get_group_id(0), item = get_local_id(0), lane = item % HIDDEN_LANES, part = item / HIDDEN_LANES;
    const uint step = state[0], picture = order[step * BATCH + sample], label = labels[picture];
    const float scale = exp(scalars[0]) * LOGIT_SCALE;
    if (sample == 0 && item == 0)
        state[1] = step + 1;

    for (uint r = item; r < ROWS; r += SIZE) {
        rows[r] = pictures[picture * ROWS + r];
        counts[r] = popcount(rows[r]);
    }
#ifdef GREY
    for (uint p = item; p < PIXELS; p += SIZE) {
        seen[p] = greys[picture * PIXELS + p];
        shades[(sample / TILE * PIXELS + p) * TILE + sample % TILE] = seen[p];
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    uint count = 0;
    for (uint r = 0; r < ROWS; r++)
        count += counts[r];
    for (uint r = item; r < ROWS; r += SIZE) {
        uint at = 0;
        for (uint k = 0; k < r; k++)
            at += counts[k];
        for (uint rest = rows[r]; rest; rest &= rest - 1) {
            const uint p = r * COLS + LOWEST_BIT((ulong)rest);
            set[at++] = p;
            atomic_or(masks + sample / TILE * PIXELS + p, 1u << sample % TILE);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    SUM_REAL sum = 0;
    for (uint first = 0; first < count; first += AT_ONCE * PARTS)
        _Pragma("unroll") for (uint k = 0; k < AT_ONCE; k++) {
            const uint at = first + k * PARTS + part;
            const uint p = at < count ? set[at] : 0;
#ifdef GREY
            const SUM_REAL weight = seen[p] * GREY_STEP * hidden[p * HIDDEN_LANES + lane];
#else
            const SUM_REAL weight = hidden[p * HIDDEN_LANES + lane];
#endif
            sum += at < count ? weight : 0;
        }
    parts[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = hidden[PIXELS * HIDDEN_LANES + lane];
    for (uint k = 0; k < PARTS; k++)
        sum += parts[k * HIDDEN_LANES + lane];
    if (part == 0) {
        active[lane] = LEVEL(sum);
        levels[sample * HIDDEN_LANES + lane] = active[lane];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint i = item; i < SHARES * CLASS_LANES; i += SIZE) {
        float score = 0.0f;
        for (uint j = i / CLASS_LANES; j < HIDDEN; j += SHARES)
            score += active[j] * output[j * CLASS_LANES + i % CLASS_LANES];
        shares[i] = score;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = item; c < CLASSES; c += SIZE) {
        float score = output[HIDDEN_LANES * CLASS_LANES + c];
        for (uint k = 0; k < SHARES; k++)
            score += shares[k * CLASS_LANES + c];
        scores[c] = score;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float most = scores[0] * scale, total = 0.0f;
    for (uint c = 1; c < CLASSES; c++)
        most = fmax(most, scores[c] * scale);
    for (uint c = 0; c < CLASSES; c++)
        total += exp(scores[c] * scale - most);
    for (uint c = item; c < CLASS_LANES; c += SIZE) {
        float slope = 0.0f;
        if (c < CLASSES)
            back[c] = slope = (exp(scores[c] * scale - most) / total - (c == label ? 1.0f : 0.0f)) * (scale / BATCH);
        score_deltas[sample * CLASS_LANES + c] = slope;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float slope = 0.0f;
    for (uint c = 0; c < CLASSES; c++)
        slope += back[c] * turned[c * HIDDEN_LANES + lane];
    const float2 back_through = delta_of(sum, slope);
    if (part == 0) {
        deltas[sample * HIDDEN_LANES + lane] = back_through.x;
        penalties[lane] = back_through.y;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (item == 0) {
        float2 result = (float2)(most + log(total) - scores[label] * scale, 0.0f);
        _Pragma("unroll 8") for (uint j = 0; j < HIDDEN; j++)
            result.x += penalties[j];
        for (uint c = 0; c < CLASSES; c++)
            result.y += back[c] * scores[c];
        partial[sample] = result;
    }
}
