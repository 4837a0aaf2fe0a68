// conv_tiles - training of a small convolutional net on a CPU: 3 x 3 filters on pictures of bits, ReLU, 2 x 2 maximum, dense
//
// A work-item takes TILE samples, or a few places of the dense layer, in vectors of 16 filters. A window of bits has 512 possible
// contents: a table of the filters' 512 sums replaces the convolution, and slopes are added up by contents before they become
// a gradient.
//
// In         samples, batch_labels: from batches.cl
// In, out    filters (10, 2, 16): nine weights and the bias, each with its momentum
//            dense (2, POSITIONS, CLASSES, 16): weights, then momentum;  biases (2, 16): likewise
//            active (BATCH, POSITIONS, 16): activations;  score_deltas (BATCH, 16);  state: [0] step in this epoch, [1] the next
//            filter_parts (BATCH / TILE, 10, 16): the samples' parts of the filters' gradient
// Sizes      batches.cl, vectors.cl; FILTERS, at most 16

#define TILE 8       // samples of a work-item
#define PLACE_TILE 6 // places of a work-item, two at a time
#define POOLED_COLS ((COLS - 2) / 2)
#define POSITIONS ((ROWS - 2) / 2 * POOLED_COLS)
#define DENSE_SIZE (POSITIONS * CLASSES)

// table[content] = sums of the filters on each content of a window
static inline void fill_table(global const float16 *filters, float16 *table)
{
    table[0] = filters[9 * 2];
    for (uint k = 0; k < 9; k++)
        for (uint content = 0; content < 1u << k; content++)
            table[(1u << k) + content] = table[content] + filters[k * 2];
}

// contents of the four windows of the place whose corner is (top, left)
static inline void read_windows(const uint *rows, uint top, uint left, uint *contents)
{
    uint three[4];
    EACH(i, 4) three[i] = rows[top + i] >> left;
    EACH(q, 4)
        contents[q] = (three[q / 2] >> (q & 1) & 7) | (three[q / 2 + 1] >> (q & 1) & 7) << 3 | (three[q / 2 + 2] >> (q & 1) & 7) << 6;
}

// scores of a sample; choices = which of a place's four windows was greatest, 4 where none is positive
static inline float16 run_sample(const uint *rows, const float16 *table, global const float16 *dense, global float16 *active,
                                 int16 *choices)
{
    float16 sums[CLASSES];
    EACH(c, CLASSES) sums[c] = (float16)(0.0f);
    for (uint position = 0; position < POSITIONS; position++) {
        uint contents[4];
        read_windows(rows, position / POOLED_COLS * 2, position % POOLED_COLS * 2, contents);
        float16 best = (float16)(0.0f);
        int16 choice = (int16)(4);
        EACH(q, 4) {
            const float16 sum = table[contents[q]];
            const int16 above = sum > best;
            best = above ? sum : best;
            choice = above ? (int16)(q) : choice;
        }
        choices[position] = choice;
        active[position] = best;
        EACH(c, CLASSES) sums[c] += best * dense[position * CLASSES + c];
    }
    float16 scores = (float16)(0.0f);
    for (int c = 0; c < CLASSES; c++)
        ((float *)&scores)[c] = sum_lanes(sums[c]);
    return scores;
}

// slopes (512) += the loss by the sums, by contents; returns the slopes by the bias
static inline float16 run_back(const uint *rows, float16 back, global const float16 *dense, const int16 *choices, float16 *slopes)
{
    float16 bias = (float16)(0.0f);
    for (uint position = 0; position < POSITIONS; position++) {
        float16 slope = (float16)(0.0f);
        EACH(c, CLASSES) slope += ((const float *)&back)[c] * dense[position * CLASSES + c];
        const int16 choice = choices[position];
        slope = choice < 4 ? slope : (float16)(0.0f);
        bias += slope;
        uint contents[4];
        read_windows(rows, position / POOLED_COLS * 2, position % POOLED_COLS * 2, contents);
        if (contents[0] | contents[1] | contents[2] | contents[3])
            EACH(q, 4) slopes[contents[q]] += choice == (int16)(q) ? slope : (float16)(0.0f);
    }
    return bias;
}

// part (10) = the gradient of the weights and the bias; slopes are folded up
static inline void fold_slopes(float16 *slopes, float16 bias, global float16 *part)
{
    part[9] = bias;
    for (int k = 8; k >= 0; k--) {
        float16 sum = (float16)(0.0f);
        for (uint content = 0; content < 1u << k; content++) {
            sum += slopes[(1u << k) + content];
            slopes[content] += slopes[(1u << k) + content];
        }
        part[k] = sum;
    }
}

#define ARGUMENTS                                                                                                            \
    global const uint *restrict samples, global const uchar *restrict batch_labels, global float16 *restrict filters,       \
        global float16 *restrict dense, global float16 *restrict biases, global float16 *restrict active,                   \
        global float16 *restrict score_deltas, global float16 *restrict filter_parts, global uint *restrict state

// pictures to deltas
kernel void conv_tile_forward(ARGUMENTS)
{
    const uint step = state[0], start = get_global_id(0) * TILE;
    if (start >= BATCH)
        return;
    if (start == 0)
        state[1] = step + 1;
    float16 table[512], slopes[512], bias = (float16)(0.0f);
    int16 choices[POSITIONS];
    fill_table(filters, table);
    for (uint content = 0; content < 512; content++)
        slopes[content] = (float16)(0.0f);
    for (uint s = start; s < start + TILE; s++) {
        uint rows[ROWS];
        for (uint r = 0; r < ROWS; r++)
            rows[r] = samples[(step * ROWS + r) * BATCH + s];
        const float16 scores = run_sample(rows, table, dense, active + s * POSITIONS, choices);
        const float16 back = softmax_slope(scores + biases[0], batch_labels[step * BATCH + s]);
        score_deltas[s] = back;
        bias += run_back(rows, back, dense, choices, slopes);
    }
    fold_slopes(slopes, bias, filter_parts + get_global_id(0) * 10);
}

static inline void update_places(uint position, uint count, global const float16 *active, global const float *score_deltas,
                                 global float16 *dense)
{
    float16 gradient[2][CLASSES];
    EACH(c, CLASSES) gradient[0][c] = gradient[1][c] = (float16)(0.0f);
    for (uint s = 0; s < BATCH; s++) {
        const float16 one = active[s * POSITIONS + position], other = active[s * POSITIONS + position + count - 1];
        EACH(c, CLASSES) {
            gradient[0][c] += one * score_deltas[s * 16 + c];
            gradient[1][c] += other * score_deltas[s * 16 + c];
        }
    }
    for (uint i = 0; i < count; i++)
        for (uint c = 0; c < CLASSES; c++) {
            global float16 *at = dense + (position + i) * CLASSES + c;
            descend_vector(at, at + DENSE_SIZE, gradient[i][c]);
        }
}

#define PLACE_ITEMS ((POSITIONS + PLACE_TILE - 1) / PLACE_TILE)

// deltas to gradients and new weights
kernel void conv_tile_update(ARGUMENTS)
{
    const uint item = get_global_id(0);
    if (item < PLACE_ITEMS) {
        const uint start = item * PLACE_TILE, end = start + PLACE_TILE < POSITIONS ? start + PLACE_TILE : POSITIONS;
        for (uint p = start; p < end; p += 2)
            update_places(p, p + 1 < end ? 2 : 1, active, (global const float *)score_deltas, dense);
        return;
    }
    if (item > PLACE_ITEMS)
        return;
    for (uint k = 0; k < 10; k++) {
        float16 gradient = (float16)(0.0f);
        for (uint part = 0; part < BATCH / TILE; part++)
            gradient += filter_parts[part * 10 + k];
        descend_vector(filters + k * 2, filters + k * 2 + 1, gradient);
    }
    float16 gradient = (float16)(0.0f);
    for (uint s = 0; s < BATCH; s++)
        gradient += score_deltas[s];
    descend_vector(biases, biases + 1, gradient);
    state[0] = state[1];
}
