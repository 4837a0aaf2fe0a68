// conv_groups - training of a small convolutional net on a GPU: 3 x 3 filters on pictures of bits, ReLU, 2 x 2 maximum, dense
//
// A window of bits has 512 possible contents, so a table of the filters' 512 sums replaces the convolution. A step is two phases,
// and after each all groups meet:
//
//   pass       a work-group runs a sample forward and back, to the sample's part of the filters' gradient
//   learn      a work-group updates its share of the dense layer and of the filters
//
// The phases run as kernels of their own or all in one launch, which needs every group resident at once (meet.cl); the bits are
// the same.
//
// In         samples, batch_labels: from batches.cl
// In, out    filters (2, 10, FILTER_LANES): nine weights and the bias, then momentum;  FILTER_LANES: FILTERS filled up with 0
//            dense (2, CLASSES, ITEMS): weights, an item = (position, filter), then momentum;  biases (2, CLASSES): likewise
//            active (BATCH, ITEMS): activations;  score_deltas (BATCH, CLASSES): the loss's slope by the scores
//            filter_parts (10 * FILTER_LANES, BATCH): the samples' parts of the filters' gradient
//            state[0]: step in this epoch
// Sizes      batches.cl; FILTERS, CLASSES (at most 16); GROUP: the local size, at least 16 * CLASSES and
//            10 * FILTER_LANES; RATE, MOMENTUM
//            there are BATCH groups

#define FILTER_QUADS ((FILTERS + 3) / 4)
#define FILTER_LANES (4 * FILTER_QUADS)
#define POOLED_COLS ((COLS - 2) / 2)
#define POSITIONS ((ROWS - 2) / 2 * POOLED_COLS)
#define ITEM_QUADS (POSITIONS * FILTER_QUADS)
#define ITEMS (4 * ITEM_QUADS)
#define TURNS ((ITEM_QUADS + GROUP - 1) / GROUP) // quads of items that a work-item holds
#define FILTER_SIZE (10 * FILTER_LANES)
#define FILTER_TURNS (GROUP / FILTER_SIZE) // work-items that share an entry of the filters' gradient
#define OWN_QUADS ((ITEM_QUADS + BATCH - 1) / BATCH) // quads of items that a group updates
#define OWN (4 * OWN_QUADS)
#define OWN_PARTS (GROUP / OWN) // work-items that share an item in phase learn
#define OWN_TURNS ((BATCH + OWN_PARTS - 1) / OWN_PARTS) // samples of a work-item in phase learn
#define OWN_FILTERS ((FILTER_SIZE + BATCH - 1) / BATCH)
#define CLASS_QUADS ((CLASSES + 3) / 4)

#define POOL MOST(MOST(512 * FILTER_LANES, CLASSES * GROUP), FILTER_TURNS * FILTER_SIZE)
#define BIAS_BIT 512u // set in every window's content, so that a bias is a tenth weight

// local memory of a group
typedef struct {
    float pool[POOL] __attribute__((aligned(16)));   // by turns: the table; parts of scores; parts of gradients
    float filters[FILTER_SIZE] __attribute__((aligned(16)));
    float slopes[ITEMS];                             // (FILTER_LANES, POSITIONS): the loss by the greatest sum of each place
    ushort windows[ITEMS];                           // likewise: the window that gave it
    float back[BATCH * CLASS_QUADS * 4] __attribute__((aligned(16))); // slopes by the scores: in phase pass [c] of one sample
    float parts[MOST(16 * CLASSES, 32 * OWN_FILTERS)];
    float scores[CLASSES];
    uint rows[ROWS];
    uint filter_size; // FILTER_SIZE, where no compiler may draw the test out of the loop over steps, as PoCL's does, to wrong results
} Memory;

// pool[content, filter] = sums of the filters on each content of a window
static inline void fill_table(local Memory *memory)
{
    local const float4 *filters = (local const float4 *)memory->filters;
    local float4 *table = (local float4 *)memory->pool;
    SPREAD(i, 128 * FILTER_QUADS) {
        const uint content = i / FILTER_QUADS, quad = i % FILTER_QUADS;
        float4 sum = filters[9 * FILTER_QUADS + quad];
        EACH(k, 7)
            sum += (content >> k & 1 ? 1.0f : 0.0f) * filters[k * FILTER_QUADS + quad];
        const float4 seventh = filters[7 * FILTER_QUADS + quad], eighth = filters[8 * FILTER_QUADS + quad];
        table[content * FILTER_QUADS + quad] = sum;
        table[(128 + content) * FILTER_QUADS + quad] = sum + seventh;
        table[(256 + content) * FILTER_QUADS + quad] = sum + eighth;
        table[(384 + content) * FILTER_QUADS + quad] = sum + seventh + eighth;
    }
}

// the greatest of a place's four windows, at least 0, and which contents gave it
static inline float4 pool_windows(local const Memory *memory, uint item, uint4 *content)
{
    local const float4 *table = (local const float4 *)memory->pool;
    const uint position = item / FILTER_QUADS, quad = item % FILTER_QUADS;
    const uint top = position / POOLED_COLS * 2, left = position % POOLED_COLS * 2;
    float4 best = (float4)(0.0f);
    *content = (uint4)(0);
    EACH(q, 4) {
        const uint shift = left + (q & 1), row = top + q / 2;
        const uint bits = (memory->rows[row] >> shift & 7) | (memory->rows[row + 1] >> shift & 7) << 3 |
                          (memory->rows[row + 2] >> shift & 7) << 6;
        const float4 sum = table[bits * FILTER_QUADS + quad];
        const int4 above = sum > best;
        best = above ? sum : best;
        *content = above ? (uint4)(bits | BIAS_BIT) : *content;
    }
    return best;
}

// scores = biases + the parts that the work-items left in pool (CLASSES, GROUP)
static inline void add_scores(local Memory *memory, global const float *biases)
{
    const uint t = get_local_id(0);
    SPREAD(i, CLASSES * 16) {
        float sum = 0.0f;
        for (uint k = i % 16; k < GROUP; k += 16)
            sum += memory->pool[i / 16 * GROUP + k];
        memory->parts[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < CLASSES) {
        float sum = biases[t];
        for (uint k = 0; k < 16; k++)
            sum += memory->parts[t * 16 + k];
        memory->scores[t] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// back = the loss's slope by the scores, the same in every work-item
static inline void softmax(local const Memory *memory, uint label, float *back)
{
    float most = -INFINITY, total = 0.0f;
    EACH(c, CLASSES)
        most = memory->scores[c] > most ? memory->scores[c] : most;
    EACH(c, CLASSES) {
        back[c] = native_exp(memory->scores[c] - most);
        total += back[c];
    }
    total = 1.0f / total;
    EACH(c, CLASSES)
        back[c] = (back[c] * total - (c == label ? 1.0f : 0.0f)) * (1.0f / BATCH);
}

// the sample's part of the filters' gradient: the slopes summed over the places whose window has the weight's bit set
static inline void filter_gradient(local Memory *memory, global float *filter_parts)
{
    const uint i = get_local_id(0), filter = i % FILTER_SIZE / 10, k = i % 10;
    if (i < FILTER_SIZE * FILTER_TURNS) {
        float sum = 0.0f;
        _Pragma("unroll 8") for (uint p = i / FILTER_SIZE; p < POSITIONS; p += FILTER_TURNS)
            sum += memory->windows[filter * POSITIONS + p] >> k & 1 ? memory->slopes[filter * POSITIONS + p] : 0.0f;
        memory->pool[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint entry = get_local_id(0);
    if (entry < memory->filter_size) {
        float sum = 0.0f;
        for (uint turn = 0; turn < FILTER_TURNS; turn++)
            sum += memory->pool[turn * FILTER_SIZE + entry];
        filter_parts[(entry % 10 * FILTER_LANES + entry / 10) * BATCH + get_group_id(0)] = sum;
    }
}

static inline void phase_pass(local Memory *memory, uint step, global const uint *samples, global const uchar *batch_labels,
                              global const float *filters, global const float *dense, global const float *biases,
                              global float *active, global float *score_deltas, global float *filter_parts)
{
    const uint t = get_local_id(0), sample = get_group_id(0);
    SPREAD(i, ROWS)
        memory->rows[i] = samples[(step * ROWS + i) * BATCH + sample];
    SPREAD(i, FILTER_SIZE)
        memory->filters[i] = filters[i];
    memory->filter_size = FILTER_SIZE;
    float4 weights[TURNS][CLASSES], best[TURNS];
    uint4 content[TURNS];
    EACH(turn, TURNS)
        EACH(c, CLASSES)
            if (turn * GROUP + t < ITEM_QUADS)
                weights[turn][c] = ((global const float4 *)dense)[c * ITEM_QUADS + turn * GROUP + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    fill_table(memory);
    barrier(CLK_LOCAL_MEM_FENCE);
    float scores[CLASSES];
    EACH(c, CLASSES)
        scores[c] = 0.0f;
    EACH(turn, TURNS) {
        const uint item = turn * GROUP + t;
        if (item < ITEM_QUADS) {
            best[turn] = pool_windows(memory, item, &content[turn]);
            ((global float4 *)active)[sample * ITEM_QUADS + item] = best[turn];
            EACH(c, CLASSES) {
                const float4 product = best[turn] * weights[turn][c];
                scores[c] += (product.x + product.y) + (product.z + product.w);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH(c, CLASSES)
        memory->pool[c * GROUP + t] = scores[c];
    barrier(CLK_LOCAL_MEM_FENCE);
    add_scores(memory, biases);
    float back[CLASSES];
    softmax(memory, batch_labels[step * BATCH + sample], back);
    if (t == 0)
        EACH(c, CLASSES)
            score_deltas[sample * CLASSES + c] = back[c];
    EACH(turn, TURNS) {
        const uint item = turn * GROUP + t;
        if (item < ITEM_QUADS) {
            float4 slope = (float4)(0.0f);
            EACH(c, CLASSES)
                slope += back[c] * weights[turn][c];
            const uint place = item % FILTER_QUADS * 4 * POSITIONS + item / FILTER_QUADS;
            EACH(k, 4) {
                memory->slopes[place + k * POSITIONS] = ((const float *)&slope)[k];
                memory->windows[place + k * POSITIONS] = ((const uint *)&content[turn])[k]; // 0 where the ReLU is off
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    filter_gradient(memory, filter_parts);
}

// what a work-item needs of the activations of its item
static inline void read_active(global const float *active, float *values)
{
    const uint item = get_group_id(0) * OWN + get_local_id(0) % OWN, part = get_local_id(0) / OWN;
    EACH(n, OWN_TURNS) {
        const uint s = part + n * OWN_PARTS;
        values[n] = part < OWN_PARTS && item < ITEMS && s < BATCH ? active[s * ITEMS + item] : 0.0f;
    }
}

// pool[c, part, item] = part of the gradient of the group's items
static inline void dense_gradient(local Memory *memory, const float *values)
{
    const uint t = get_local_id(0), part = t / OWN;
    local const float4 *back = (local const float4 *)memory->back;
    float4 sums[CLASS_QUADS];
    EACH(q, CLASS_QUADS)
        sums[q] = (float4)(0.0f);
    EACH(n, OWN_TURNS) {
        const uint s = part + n * OWN_PARTS < BATCH ? part + n * OWN_PARTS : 0; // whose value is 0 if it is beyond
        EACH(q, CLASS_QUADS)
            sums[q] += values[n] * back[s * CLASS_QUADS + q];
    }
    EACH(c, CLASSES)
        memory->pool[c * GROUP + t] = ((const float *)sums)[c];
}

static inline void phase_learn(local Memory *memory, global float *filters, global float *dense, global float *biases,
                               global const float *active, global const float *score_deltas, global const float *filter_parts)
{
    const uint t = get_local_id(0), group = get_group_id(0);
    float values[OWN_TURNS];
    read_active(active, values);
    SPREAD(i, BATCH * CLASS_QUADS * 4) {
        const uint s = i / (CLASS_QUADS * 4), c = i % (CLASS_QUADS * 4);
        memory->back[i] = c < CLASSES ? score_deltas[s * CLASSES + c] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    dense_gradient(memory, values);
    SPREAD(i, 32 * OWN_FILTERS) {
        const uint entry = group + i / 32 * BATCH;
        float sum = 0.0f;
        if (entry < FILTER_SIZE)
            EACH(n, BATCH / 32)
                sum += filter_parts[entry * BATCH + i % 32 + n * 32];
        memory->parts[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    SPREAD(i, CLASSES * OWN) {
        const uint c = i / OWN, item = group * OWN + i % OWN;
        float sum = 0.0f;
        for (uint part = 0; part < OWN_PARTS; part++)
            sum += memory->pool[c * GROUP + part * OWN + i % OWN];
        if (item < ITEMS)
            descend_plain(dense + c * ITEMS + item, dense + (CLASSES + c) * ITEMS + item, sum);
    }
    SPREAD(i, OWN_FILTERS) {
        const uint entry = group + i * BATCH;
        float sum = 0.0f;
        for (uint part = 0; part < 32; part++)
            sum += memory->parts[i * 32 + part];
        if (entry < FILTER_SIZE)
            descend_plain(filters + entry, filters + FILTER_SIZE + entry, sum);
    }
    if (group == BATCH - 1 && t < CLASSES) {
        float sum = 0.0f;
        _Pragma("unroll 16") for (uint s = 0; s < BATCH; s++)
            sum += memory->back[s * CLASS_QUADS * 4 + t];
        descend_plain(biases + t, biases + CLASSES + t, sum);
    }
}

#define ARGUMENTS                                                                                                               \
    global const uint *restrict samples, global const uchar *restrict batch_labels, global float *filters, global float *dense, \
        global float *biases, global float *active, global float *score_deltas, global float *filter_parts, global uint *state

GROUPED void conv_pass(ARGUMENTS)
{
    local Memory memory;
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        state[1] = state[0] + 1;
    phase_pass(&memory, state[0], samples, batch_labels, filters, dense, biases, active, score_deltas, filter_parts);
}

GROUPED void conv_learn(ARGUMENTS)
{
    local Memory memory;
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        state[0] = state[1];
    phase_learn(&memory, filters, dense, biases, active, score_deltas, filter_parts);
}

// so many steps in one launch of BATCH groups, all of them resident
GROUPED void conv_persistent(ARGUMENTS, volatile global uint *meeting, uint start, uint steps)
{
    local Memory memory;
    uint arrivals = 0;
    for (uint step = start; step < start + steps; step++) {
        phase_pass(&memory, step, samples, batch_labels, filters, dense, biases, active, score_deltas, filter_parts);
        meet(meeting, &arrivals);
        phase_learn(&memory, filters, dense, biases, active, score_deltas, filter_parts);
        meet(meeting, &arrivals);
    }
}
