// tile_forward - first half of a training step for a CPU: pictures of bits to the deltas of both layers
//
// One work-item runs TILE samples through the integer net, then back to the hidden sums.
//
// In         pictures (n, ROWS): a row a word, bit c = column c;  labels (n);  order (steps, BATCH): which pictures
//            hidden (PIXELS + 1, HIDDEN): quantised weights, the biases last
//            output (HIDDEN_LANES + 1, CLASSES): likewise;  turned (CLASSES, HIDDEN): the same without biases
//            scalars: [0] = log of the temperature's inverse;  state[0]: step in this epoch
//            GREY: greys (n, PIXELS): the pixels as bytes
// Out        masks (TILES, PIXELS): bit s = pixel is set in sample s of the tile
//            levels (BATCH, HIDDEN), deltas (BATCH, HIDDEN): activations, and the loss by the hidden sums
//            score_deltas (BATCH, CLASSES): the loss by the scores
//            partial (TILES): the tile's loss, and the loss by scalars[0];  state[1] = state[0] + 1
//            GREY: shades (TILES, PIXELS, TILE): the bytes of the pixels that are set
// Sizes      lanes.cl; SHIFT, LEVELS of the requantisation; LOGIT_SCALE; HALF_RANGE = 2**(sum_bits - 1); SAFE_PART, RANGE_PENALTY

#define WORDS ((ROWS + ROWS_A_WORD - 1) / ROWS_A_WORD)
#define CLASS_NUMBER(v) (16 * (v) + (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// bits = the picture's pixels in raster order, ROWS_A_WORD rows a word
static inline void read_picture(global const uint *rows, ulong *bits)
{
    for (int w = 0; w < WORDS; w++) {
        bits[w] = 0;
        _Pragma("unroll") for (int r = 0; r < ROWS_A_WORD; r++)
            if (w * ROWS_A_WORD + r < ROWS)
                bits[w] |= (ulong)rows[w * ROWS_A_WORD + r] << (r * COLS);
    }
}

// sums = biases + the rows of the set pixels; bit s of each set pixel's mask is set
#ifdef GREY
static inline void add_pixels(const ulong *bits, uint s, global const SUM16 *hidden, SUM16 *sums, uint *mask,
                              global const uchar *greys, global uchar *shades)
{
    EACH_HIDDEN_BLOCK sums[v] = hidden[PIXELS * HIDDEN_BLOCKS + v];
    for (int w = 0; w < WORDS; w++)
        for (ulong rest = bits[w]; rest; rest &= rest - 1) {
            const int p = w * ROWS_A_WORD * COLS + LOWEST_BIT(rest);
            mask[p] |= 1u << s;
            shades[p * TILE + s] = greys[p];
            EACH_HIDDEN_BLOCK sums[v] += greys[p] * GREY_STEP * hidden[p * HIDDEN_BLOCKS + v];
        }
}
#else
static inline void add_pixels(const ulong *bits, uint s, global const SUM16 *hidden, SUM16 *sums, uint *mask)
{
    EACH_HIDDEN_BLOCK sums[v] = hidden[PIXELS * HIDDEN_BLOCKS + v];
    for (int w = 0; w < WORDS; w++)
        for (ulong rest = bits[w]; rest; rest &= rest - 1) {
            const int p = w * ROWS_A_WORD * COLS + LOWEST_BIT(rest);
            mask[p] |= 1u << s;
            EACH_HIDDEN_BLOCK sums[v] += hidden[p * HIDDEN_BLOCKS + v];
        }
}
#endif

static inline void requantise(const SUM16 *sums, float16 *active)
{
    EACH_HIDDEN_BLOCK {
#ifdef FLOAT_NET
        active[v] = sums[v] > 0.0f ? sums[v] : (float16)(0.0f);
#else
        SUM16 level = (sums[v] >> (SUM16)(SHIFT)) + (SUM16)(1);
        level = level < (SUM16)(0) ? (SUM16)(0) : level;
        level = level > (SUM16)(LEVELS) ? (SUM16)(LEVELS) : level;
        active[v] = convert_float16(level);
#endif
    }
}

static inline void add_scores(const float16 *active, global const float16 *output, float16 *scores)
{
    float16 four[4][CLASS_BLOCKS]; // four sums side by side hide the latency of the additions
    EACH_CLASS_BLOCK {
        four[0][v] = output[HIDDEN_LANES * CLASS_BLOCKS + v];
        four[1][v] = four[2][v] = four[3][v] = (float16)(0.0f);
    }
    for (int j = 0; j < HIDDEN_LANES; j += 4)
        _Pragma("unroll") for (int k = 0; k < 4; k++)
            EACH_CLASS_BLOCK four[k][v] += ((const float *)active)[j + k] * output[(j + k) * CLASS_BLOCKS + v];
    EACH_CLASS_BLOCK scores[v] = (four[0][v] + four[1][v]) + (four[2][v] + four[3][v]);
}

// back = the cross-entropy's slope by the scores, a sample's part of the batch; returns (loss, its slope by scalars[0])
static inline float2 cross_entropy(const float16 *scores, uint label, float scale, float16 *back)
{
    float2 result = (float2)(0.0f);
    float most = -INFINITY, total = 0.0f;
    EACH_CLASS_BLOCK {
        back[v] = CLASS_NUMBER(v) < CLASSES ? scores[v] * scale : (float16)(-1e30f);
        const float block_most = max_lane(back[v]);
        most = block_most > most ? block_most : most;
    }
    EACH_CLASS_BLOCK {
        back[v] = exp(back[v] - most);
        total += sum_lanes(back[v]);
    }
    EACH_CLASS_BLOCK {
        float16 wanted = CLASS_NUMBER(v) == (int16)(label) ? (float16)(1.0f) : (float16)(0.0f);
        back[v] = (back[v] / total - wanted) * (scale / BATCH);
        result.x -= sum_lanes(wanted * scores[v]) * scale;
        result.y += sum_lanes(back[v] * scores[v]);
    }
    result.x += most + log(total);
    return result;
}

// deltas = the loss's slope by the hidden sums, through the levels and from the range penalty; returns the penalty
static inline float hidden_deltas(const SUM16 *sums, const float16 *back, global const float16 *turned, global float16 *deltas)
{
    float penalty = 0.0f;
    float16 slope[HIDDEN_BLOCKS];
    EACH_HIDDEN_BLOCK slope[v] = (float16)(0.0f);
    for (int c = 0; c < CLASSES; c++)
        EACH_HIDDEN_BLOCK slope[v] += ((const float *)back)[c] * turned[c * HIDDEN_BLOCKS + v];
#ifdef FLOAT_NET
    EACH_HIDDEN_BLOCK deltas[v] = sums[v] > 0.0f ? slope[v] : (float16)(0.0f);
#else
    EACH_HIDDEN_BLOCK {
        const float16 sum = convert_float16(sums[v]);
        const float16 level = sum * (1.0f / (1 << SHIFT));
        const int16 sloped = (level > -0.5f) & (level < LEVELS - 0.5f);
        const float16 size = sum < 0.0f ? -sum : sum;
        float16 over = (size - SAFE_PART * HALF_RANGE) * (1.0f / HALF_RANGE);
        over = over > 0.0f ? over : (float16)(0.0f);
        penalty += RANGE_PENALTY * sum_lanes(over + over * over);
        float16 push = over > 0.0f ? (1.0f + 2.0f * over) * (RANGE_PENALTY / HALF_RANGE / BATCH) : (float16)(0.0f);
        push = sum < 0.0f ? -push : push;
        deltas[v] = (sloped ? slope[v] * (1.0f / (1 << SHIFT)) : (float16)(0.0f)) + push;
    }
#endif
    return penalty;
}

kernel void tile_forward(global const uint *restrict pictures, global const uchar *restrict labels,
                         global const uint *restrict order, global const SUM16 *restrict hidden,
                         global const float16 *restrict output, global const float16 *restrict turned,
                         global const float *restrict scalars, global uint *restrict masks, global float16 *restrict levels,
                         global float16 *restrict deltas, global float16 *restrict score_deltas, global float2 *restrict partial,
                         global uint *restrict state
#ifdef GREY
                         , global const uchar *restrict greys, global uchar *restrict shades
#endif
                         )
{
    const uint tile = get_global_id(0);
    if (tile >= TILES)
        return;
    const uint step = state[0];
    if (tile == 0)
        state[1] = step + 1;
    order += step * BATCH + tile * TILE;
    const float scale = exp(scalars[0]) * LOGIT_SCALE;
    float2 totals = (float2)(0.0f);
    uint mask[PIXELS];
    for (int p = 0; p < PIXELS; p++)
        mask[p] = 0;
    ulong bits[TILE][WORDS]; // all pictures at once, so that the memory's delays overlap
    for (uint s = 0; s < TILE; s++)
        read_picture(pictures + order[s] * ROWS, bits[s]);

    for (uint s = 0; s < TILE; s++) {
        const uint sample = tile * TILE + s;
        SUM16 sums[HIDDEN_BLOCKS];
        float16 active[HIDDEN_BLOCKS], scores[CLASS_BLOCKS], back[CLASS_BLOCKS];
#ifdef GREY
        add_pixels(bits[s], s, hidden, sums, mask, greys + order[s] * PIXELS, shades + tile * PIXELS * TILE);
#else
        add_pixels(bits[s], s, hidden, sums, mask);
#endif
        requantise(sums, active);
        add_scores(active, output, scores);
        totals += cross_entropy(scores, labels[order[s]], scale, back);
        totals.x += hidden_deltas(sums, back, turned, deltas + sample * HIDDEN_BLOCKS);
        EACH_HIDDEN_BLOCK levels[sample * HIDDEN_BLOCKS + v] = active[v];
        EACH_CLASS_BLOCK score_deltas[sample * CLASS_BLOCKS + v] = back[v];
    }
    for (int p = 0; p < PIXELS; p++)
        masks[tile * PIXELS + p] = mask[p];
    partial[tile] = totals;
}
