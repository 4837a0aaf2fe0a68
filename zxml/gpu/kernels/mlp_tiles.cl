// mlp_tiles - training of a net of two hidden layers on a CPU: pictures of bits, ReLU, softmax, SGD with momentum
//
// A work-item takes TILE samples, or a few rows of weights, in vectors of 16. Pixels are bits: the first layer adds the rows of
// the pixels that are set, and a pixel's gradient is the sum of the deltas of the samples in which it is set.
//
// In         samples, masks, batch_labels: from batches.cl
// In, out    first (PIXELS + 1, 2, FIRST_LANES), second (FIRST_LANES + 1, 2, SECOND_LANES), third (SECOND_LANES + 1, 2, 16): rows of
//            weights and their momentum, biases last;  state: [0] step in this epoch, [1] the next
//            second_turned (SECOND_LANES, FIRST_LANES), third_turned (CLASSES, SECOND_LANES): the weights the other way round
//            active_first, deltas_first (BATCH, FIRST_LANES), active_second, deltas_second (BATCH, SECOND_LANES), score_deltas (BATCH, 16)
// Sizes      batches.cl, vectors.cl; FIRST_BLOCKS, SECOND_BLOCKS

#define TILE 8        // samples of a work-item
#define PIXEL_TILE 10 // pixels of a work-item
#define ROW_TILE 4    // rows of the other layers of a work-item; samples multiplied side by side
#define FIRST_LANES (16 * FIRST_BLOCKS)
#define SECOND_LANES (16 * SECOND_BLOCKS)
#define ROWS_A_WORD (64 / COLS)

// sums (ROW_TILE, WIDE) += samples (ROW_TILE, inputs) x weights (inputs, WIDE), whose rows are stride blocks apart
#define DEFINE_MULTIPLY(NAME, WIDE)                                                                                              \
    static inline void NAME(global const float *values, uint inputs, global const float16 *weights, uint stride, float16 *sums) \
    {                                                                                                                           \
        for (uint j = 0; j < inputs; j++)                                                                                       \
            EACH(i, ROW_TILE) EACH(v, WIDE) sums[i * WIDE + v] += values[i * inputs + j] * weights[j * stride + v];             \
    }
#define FIRST_WIDE (FIRST_BLOCKS % 4 ? 1 : 4)
#define SECOND_WIDE (SECOND_BLOCKS % 4 ? 1 : 4)
DEFINE_MULTIPLY(multiply_first, FIRST_WIDE)
DEFINE_MULTIPLY(multiply_second, SECOND_WIDE)

static inline void run_first(uint step, uint s, global const uint *samples, global const float16 *first, global float16 *active)
{
    float16 sums[FIRST_BLOCKS];
    EACH(v, FIRST_BLOCKS) sums[v] = first[PIXELS * 2 * FIRST_BLOCKS + v];
    for (uint r = 0; r < ROWS; r += ROWS_A_WORD) {
        ulong bits = 0;
        EACH(i, ROWS_A_WORD) if (r + i < ROWS) bits |= (ulong)samples[(step * ROWS + r + i) * BATCH + s] << i * COLS;
        for (; bits; bits &= bits - 1) {
            global const float16 *row = first + (r * COLS + LOWEST_BIT(bits)) * 2 * FIRST_BLOCKS;
            EACH(v, FIRST_BLOCKS) sums[v] += row[v];
        }
    }
    EACH(v, FIRST_BLOCKS) active[s * FIRST_BLOCKS + v] = POSITIVE(sums[v]);
}

static inline void run_second(uint s, global const float *active_first, global const float16 *second, global float16 *active)
{
    for (int v0 = 0; v0 < SECOND_BLOCKS; v0 += SECOND_WIDE) {
        float16 sums[ROW_TILE * SECOND_WIDE];
        EACH(i, ROW_TILE) EACH(v, SECOND_WIDE) sums[i * SECOND_WIDE + v] = second[FIRST_LANES * 2 * SECOND_BLOCKS + v0 + v];
        multiply_second(active_first + s * FIRST_LANES, FIRST_LANES, second + v0, 2 * SECOND_BLOCKS, sums);
        EACH(i, ROW_TILE) EACH(v, SECOND_WIDE)
            active[(s + i) * SECOND_BLOCKS + v0 + v] = POSITIVE(sums[i * SECOND_WIDE + v]);
    }
}

static inline void run_scores(uint s, uint label, global const float *active, global const float16 *third,
                              global const float16 *turned, global float16 *score_deltas, global float16 *deltas)
{
    float16 four[4]; // four sums side by side hide the latency of the additions
    four[0] = third[SECOND_LANES * 2];
    four[1] = four[2] = four[3] = (float16)(0.0f);
    for (int k = 0; k < SECOND_LANES; k += 4)
        EACH(i, 4) four[i] += active[s * SECOND_LANES + k + i] * third[(k + i) * 2];
    const float16 back = softmax_slope((four[0] + four[1]) + (four[2] + four[3]), label);
    score_deltas[s] = back;
    EACH(v, SECOND_BLOCKS) {
        float16 slope = (float16)(0.0f);
        for (int c = 0; c < CLASSES; c++)
            slope += ((const float *)&back)[c] * turned[c * SECOND_BLOCKS + v];
        const float16 value = ((global const float16 *)active)[s * SECOND_BLOCKS + v];
        deltas[s * SECOND_BLOCKS + v] = value > 0.0f ? slope : (float16)(0.0f);
    }
}

static inline void run_back(uint s, global const float *deltas_second, global const float16 *turned,
                            global const float16 *active, global float16 *deltas)
{
    for (int v0 = 0; v0 < FIRST_BLOCKS; v0 += FIRST_WIDE) {
        float16 slopes[ROW_TILE * FIRST_WIDE];
        EACH(i, ROW_TILE * FIRST_WIDE) slopes[i] = (float16)(0.0f);
        multiply_first(deltas_second + s * SECOND_LANES, SECOND_LANES, turned + v0, FIRST_BLOCKS, slopes);
        EACH(i, ROW_TILE) EACH(v, FIRST_WIDE) {
            const uint at = (s + i) * FIRST_BLOCKS + v0 + v;
            deltas[at] = active[at] > 0.0f ? slopes[i * FIRST_WIDE + v] : (float16)(0.0f);
        }
    }
}

#define ARGUMENTS                                                                                                            \
    global const uint *restrict samples, global const uint *restrict masks, global const uchar *restrict batch_labels,      \
        global float16 *restrict first, global float16 *restrict second, global float16 *restrict third,                    \
        global float16 *restrict second_turned, global float16 *restrict third_turned, global float16 *active_first,        \
        global float16 *deltas_first, global float16 *active_second, global float16 *deltas_second,                         \
        global float16 *restrict score_deltas, global uint *restrict state

// pictures to deltas
kernel void mlp_tile_forward(ARGUMENTS)
{
    const uint step = state[0], start = get_global_id(0) * TILE;
    if (start >= BATCH)
        return;
    if (start == 0)
        state[1] = step + 1;
    for (uint s = start; s < start + TILE; s++)
        run_first(step, s, samples, first, active_first);
    for (uint s = start; s < start + TILE; s += ROW_TILE)
        run_second(s, (global const float *)active_first, second, active_second);
    for (uint s = start; s < start + TILE; s++)
        run_scores(s, batch_labels[step * BATCH + s], (global const float *)active_second, third, third_turned, score_deltas,
                   deltas_second);
    for (uint s = start; s < start + TILE; s += ROW_TILE)
        run_back(s, (global const float *)deltas_second, second_turned, active_first, deltas_first);
}

#define PIXEL_ITEMS ((PIXELS + PIXEL_TILE - 1) / PIXEL_TILE)
#define FIRST_ITEMS (FIRST_LANES / ROW_TILE)
#define SECOND_ITEMS (SECOND_LANES / ROW_TILE)

static inline void update_pixel(uint p, uint step, global const uint *masks, global const float16 *deltas, global float16 *first)
{
    float16 gradient[FIRST_BLOCKS];
    EACH(v, FIRST_BLOCKS) gradient[v] = (float16)(0.0f);
    for (uint tile = 0; tile < TILES; tile += 2) {
        ulong bits = masks[(step * TILES + tile) * PIXELS + p];
        if (tile + 1 < TILES)
            bits |= (ulong)masks[(step * TILES + tile + 1) * PIXELS + p] << 32;
        for (; bits; bits &= bits - 1) {
            global const float16 *delta = deltas + (tile * 32 + LOWEST_BIT(bits)) * FIRST_BLOCKS;
            EACH(v, FIRST_BLOCKS) gradient[v] += delta[v];
        }
    }
    global float16 *row = first + p * 2 * FIRST_BLOCKS;
    EACH(v, FIRST_BLOCKS) descend_vector(row + v, row + FIRST_BLOCKS + v, gradient[v]);
}

// rows of a layer whose inputs are `active` (BATCH, inputs) and whose outputs' deltas are `deltas` (BATCH, blocks of 16);
// turned, of `count` rows: its copy the other way round
#define DEFINE_UPDATE(NAME, BLOCKS, WIDE)                                                                                       \
    static inline void NAME(uint first_row, uint inputs, uint count, global const float *active, global const float16 *deltas, \
                            global float16 *rows, global float *turned)                                                        \
    {                                                                                                                          \
        for (int v0 = 0; v0 < BLOCKS; v0 += WIDE) {                                                                            \
            float16 gradient[ROW_TILE * WIDE];                                                                                 \
            EACH(i, ROW_TILE * WIDE) gradient[i] = (float16)(0.0f);                                                            \
            for (uint s = 0; s < BATCH; s++)                                                                                   \
                EACH(i, ROW_TILE) EACH(v, WIDE)                                                                                \
                    gradient[i * WIDE + v] += active[s * inputs + first_row + i] * deltas[s * BLOCKS + v0 + v];                \
            EACH(i, ROW_TILE) EACH(v, WIDE) {                                                                                  \
                global float16 *at = rows + (first_row + i) * 2 * BLOCKS + v0 + v;                                             \
                descend_vector(at, at + BLOCKS, gradient[i * WIDE + v]);                                                       \
            }                                                                                                                  \
        }                                                                                                                      \
        for (uint k = 0; k < count; k++)                                                                                       \
            EACH(i, ROW_TILE)                                                                                                  \
                turned[k * inputs + first_row + i] = ((global float *)rows)[(first_row + i) * 2 * BLOCKS * 16 + k];            \
    }
DEFINE_UPDATE(update_second, SECOND_BLOCKS, SECOND_WIDE)
DEFINE_UPDATE(update_third, 1, 1)

static inline void update_biases(global float16 *row, uint blocks, global const float16 *deltas)
{
    for (uint v = 0; v < blocks; v++) {
        float16 gradient = (float16)(0.0f);
        for (uint s = 0; s < BATCH; s++)
            gradient += deltas[s * blocks + v];
        descend_vector(row + v, row + blocks + v, gradient);
    }
}

// deltas to gradients and new weights
kernel void mlp_tile_update(ARGUMENTS)
{
    uint item = get_global_id(0);
    const uint step = state[1] - 1;
    if (item < PIXEL_ITEMS) {
        const uint start = item * PIXEL_TILE, end = start + PIXEL_TILE < PIXELS ? start + PIXEL_TILE : PIXELS;
        for (uint p = start; p < end; p++)
            update_pixel(p, step, masks, deltas_first, first);
        return;
    }
    item -= PIXEL_ITEMS;
    if (item < FIRST_ITEMS) {
        update_second(item * ROW_TILE, FIRST_LANES, SECOND_LANES, (global const float *)active_first, deltas_second, second,
                      (global float *)second_turned);
        return;
    }
    item -= FIRST_ITEMS;
    if (item < SECOND_ITEMS) {
        update_third(item * ROW_TILE, SECOND_LANES, CLASSES, (global const float *)active_second, score_deltas, third,
                     (global float *)third_turned);
        return;
    }
    if (item > SECOND_ITEMS)
        return;
    update_biases(first + PIXELS * 2 * FIRST_BLOCKS, FIRST_BLOCKS, deltas_first);
    update_biases(second + FIRST_LANES * 2 * SECOND_BLOCKS, SECOND_BLOCKS, deltas_second);
    update_biases(third + SECOND_LANES * 2, 1, score_deltas);
    state[0] = state[1];
}
