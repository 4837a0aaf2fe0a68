// mlp_groups - training of a net of two hidden layers on a GPU: pictures of bits, ReLU, softmax, SGD with momentum
//
// A work-group owns a unit of the first layer: its weights, and the row of the second layer's weights that leaves it. A step is
// three phases, and between two of them all groups meet:
//
//   first      the group's unit for the whole batch
//   second     units of the second layer, each for a part of the batch
//   learn      scores, softmax and deltas, by every group alike and so to the same bits; then the group's own gradients
//
// Four pixels of a row have 16 possible sums of their weights. A table of them replaces four products by one look-up, and since
// the work-items of a group look up the same four pixels at a time, in different banks, nothing waits. The gradient is the same
// with samples and pixels exchanged: a pixel is set in some of four samples, whose deltas have 16 possible sums.
//
// The phases run as kernels of their own (learn with the next step's first) or all in one launch, which needs every group
// resident at once (meet.cl); the bits are the same. The kernels are in mlp_launches.cl.
//
// In         samples, masks, batch_labels: from batches.cl
// In, out    first (FIRST, 2, PIXELS + 1): a unit's weights, bias last, then their momentum
//            second (FIRST + 1, 2, SECOND): weights of a row, bias row last, and momentum
//            third (3, (SECOND + 1) * CLASSES): weights, biases last, at even steps and at odd steps, and momentum
//            active_first (FIRST, BATCH), active_second (SECOND, BATCH): activations
//            state[0]: step in this epoch
// Sizes      batches.cl; FIRST, SECOND units, CLASSES; SHARES: parts of a batch in phase second, dividing BATCH; GROUP: the local
//            size, at least BATCH / SHARES, and SECOND; RATE, MOMENTUM

#define QUADS ((COLS + 3) / 4)                // groups of four pixels in a row
#define SHARE (BATCH / SHARES)                // samples of a work-group in phase second
#define PARTS (GROUP >= BATCH ? GROUP / BATCH : 1) // work-items that share a sample
#define SAMPLE_TURNS ((PARTS * BATCH + GROUP - 1) / GROUP)
#define ROW_TURNS ((ROWS + PARTS - 1) / PARTS)
#define UNITS_A_PART ((SECOND + PARTS - 1) / PARTS)
#define UNIT_TURNS ((FIRST + GROUP / SHARE - 1) / (GROUP / SHARE))
#define PIXEL_TURNS ((PIXELS + GROUP) / GROUP) // pixels, and the bias, that a work-item updates
#define CLASS_QUADS ((CLASSES + 3) / 4)
#define THIRD_SIZE ((SECOND + 1) * CLASSES)
#define THIRD_SHARE ((THIRD_SIZE + FIRST - 1) / FIRST) // entries of the third layer that a group owns
#define THIRD_NOW(step) ((step) % 2 * THIRD_SIZE)
#define THIRD_TURNS ((THIRD_SHARE + GROUP - 1) / GROUP)
#define THIRD_PART_TURNS ((THIRD_SHARE * 32 + GROUP - 1) / GROUP)
#define ROW_PARTS (GROUP / SECOND)

#define POOL MOST(MOST(ROWS * QUADS * 16, PARTS * CLASSES * BATCH), MOST(SECOND * BATCH, 16 * BATCH / 4))

// local memory of a group
typedef struct {
    float pool[POOL];        // by turns: sums of four weights; parts of scores; deltas of the second layer; sums of four deltas
    float own[PIXELS + 1];   // the unit's weights, bias last
    float active[BATCH];     // the unit's activations
    float parts[MOST(PARTS * BATCH, GROUP)]; // parts of sums; then [s] = the unit's deltas
    float back[CLASSES * BATCH];             // the loss's slope by the scores
    float third[MOST(SECOND * CLASS_QUADS * 4, 2 * GROUP)] __attribute__((aligned(16))); // weights; then parts of gradients
    float row[MOST(SECOND, FIRST)];          // weights of the second layer: a column in phase second, the unit's row in learn
    float third_parts[THIRD_SHARE * 32];
} Memory;

// table[16 * q + bits] = sum of the values of group q that are set in bits
static inline float sum_of_four(local const float *values, uint bits, uint count)
{
    float sum = 0.0f;
    EACH(k, 4)
        if (k < count)
            sum += bits >> k & 1 ? values[k] : 0.0f;
    return sum;
}

static inline void load_own(local Memory *memory, global const float *first)
{
    SPREAD(p, PIXELS + 1)
        memory->own[p] = first[get_group_id(0) * 2 * (PIXELS + 1) + p];
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void phase_first(local Memory *memory, uint step, global const uint *samples, global float *active_first)
{
    const uint t = get_local_id(0);
    uint words[SAMPLE_TURNS][ROW_TURNS]; // on their way while the table is made
    EACH(turn, SAMPLE_TURNS) EACH(n, ROW_TURNS) {
        const uint i = t + turn * GROUP, row = i / BATCH + n * PARTS;
        words[turn][n] = row < ROWS && i < PARTS * BATCH ? samples[(step * ROWS + row) * BATCH + i % BATCH] : 0;
    }
    SPREAD(i, ROWS * QUADS * 16) {
        const uint row = i / 16 / QUADS, column = i / 16 % QUADS * 4;
        memory->pool[i] = sum_of_four(memory->own + row * COLS + column, i % 16, COLS - column);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH(turn, SAMPLE_TURNS) {
        const uint i = t + turn * GROUP;
        float sum = 0.0f;
        EACH(n, ROW_TURNS) {
            const uint row = i / BATCH + n * PARTS, bits = words[turn][n];
            local const float *table = memory->pool + (row < ROWS ? row : 0) * QUADS * 16; // content 0 is worth 0 in every row
            float even = 0.0f, odd = 0.0f;
            EACH(q, QUADS) {
                if (q % 2)
                    odd += table[q * 16 + (bits >> 4 * q & 15)];
                else
                    even += table[q * 16 + (bits >> 4 * q & 15)];
            }
            sum += even + odd;
        }
        if (i < PARTS * BATCH)
            memory->parts[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    SPREAD(s, BATCH) {
        float sum = memory->own[PIXELS];
        for (uint part = 0; part < PARTS; part++)
            sum += memory->parts[part * BATCH + s];
        sum = sum > 0.0f ? sum : 0.0f;
        memory->active[s] = sum;
        active_first[get_group_id(0) * BATCH + s] = sum;
    }
}

// parts[part, s] = part of unit's sum over the first layer, for the samples s of a share
static inline void phase_second(local Memory *memory, global const float *second, global const float *active_first,
                                global float *active_second)
{
    const uint t = get_local_id(0), parts = GROUP / SHARE;
    for (uint task = get_group_id(0); task < SECOND * SHARES; task += FIRST) {
        const uint unit = task / SHARES, start = task % SHARES * SHARE, s = t % SHARE;
        const float bias = second[FIRST * 2 * SECOND + unit];
        float values[UNIT_TURNS];
        EACH(n, UNIT_TURNS) {
            const uint j = t / SHARE + n * parts;
            values[n] = j < FIRST ? active_first[j * BATCH + start + s] : 0.0f;
        }
        SPREAD(j, FIRST)
            memory->row[j] = second[j * 2 * SECOND + unit];
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = 0.0f;
        EACH(n, UNIT_TURNS) {
            const uint j = t / SHARE + n * parts;
            sum += values[n] * memory->row[j < FIRST ? j : 0];
        }
        memory->parts[t] = t < parts * SHARE ? sum : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < SHARE) {
            sum = bias;
            for (uint part = 0; part < parts; part++)
                sum += memory->parts[part * SHARE + t];
            active_second[unit * BATCH + start + t] = sum > 0.0f ? sum : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// back[c, s] = the loss's slope by the scores of the samples s
static inline void softmax(local Memory *memory, uint step, global const uchar *batch_labels, global const float *biases)
{
    SPREAD(s, BATCH) {
        float scores[CLASSES], most = -INFINITY, total = 0.0f;
        EACH(c, CLASSES) {
            scores[c] = biases[c];
            for (uint part = 0; part < PARTS; part++)
                scores[c] += memory->pool[(part * CLASSES + c) * BATCH + s];
            most = scores[c] > most ? scores[c] : most;
        }
        EACH(c, CLASSES) {
            scores[c] = native_exp(scores[c] - most);
            total += scores[c];
        }
        total = 1.0f / total;
        const uint label = batch_labels[step * BATCH + s];
        EACH(c, CLASSES)
            memory->back[c * BATCH + s] = (scores[c] * total - (c == label ? 1.0f : 0.0f)) * (1.0f / BATCH);
    }
}

// what a work-item needs of global memory in phase learn, loaded ahead: values of the second layer's units, the bits of its
// pixels, and weights with their momentum: of the unit's row, of the second layer's biases and of the third layer
typedef struct {
    float active[SAMPLE_TURNS][UNITS_A_PART], third_active[THIRD_PART_TURNS][BATCH / 32];
    uint bits[PIXEL_TURNS][TILES];
    float moments[PIXEL_TURNS];
    float2 row, bias, third[THIRD_TURNS];
} Own;

// what phase learn needs and no group changes until then; the weights of the third layer and of the unit's row go to local memory
static inline void prepare_learn(local Memory *memory, Own *own, uint step, global const uint *masks, global const float *first,
                                 global const float *second, global const float *third)
{
    const uint unit = get_group_id(0);
    global const float *now = third + THIRD_NOW(step);
    EACH(turn, PIXEL_TURNS) {
        const uint p = get_local_id(0) + turn * GROUP;
        EACH(tile, TILES)
            own->bits[turn][tile] = p < PIXELS ? masks[(step * TILES + tile) * PIXELS + p] : 0xFFFFFFFFu; // a bias: all samples
        own->moments[turn] = p <= PIXELS ? first[(unit * 2 + 1) * (PIXELS + 1) + p] : 0.0f;
    }
    SPREAD(i, SECOND * CLASS_QUADS * 4) {
        const uint k = i / (CLASS_QUADS * 4), c = i % (CLASS_QUADS * 4);
        memory->third[i] = c < CLASSES ? now[k * CLASSES + c] : 0.0f;
    }
    const uint k = min((uint)get_local_id(0), SECOND - 1u), bias = FIRST * 2 * SECOND + k;
    own->row = (float2)(second[unit * 2 * SECOND + k], second[(unit * 2 + 1) * SECOND + k]);
    own->bias = (float2)(second[bias], second[bias + SECOND]);
    memory->row[k] = own->row.x;
    EACH(turn, THIRD_TURNS) {
        const uint entry = min(unit + ((uint)get_local_id(0) + turn * GROUP) * FIRST, THIRD_SIZE - 1u);
        own->third[turn] = (float2)(now[entry], third[2 * THIRD_SIZE + entry]);
    }
}

// pool[part, c, s] = parts of the scores
static inline void scores_of_parts(local Memory *memory, Own *own, global const float *active_second)
{
    local const float4 *third = (local const float4 *)memory->third;
    EACH(turn, THIRD_PART_TURNS) {
        const uint i = get_local_id(0) + turn * GROUP, row = (get_group_id(0) + i / 32 * FIRST) / CLASSES;
        EACH(n, BATCH / 32)
            own->third_active[turn][n] = row < SECOND ? active_second[row * BATCH + i % 32 + n * 32] : row == SECOND ? 1.0f : 0.0f;
    }
    EACH(turn, SAMPLE_TURNS) {
        const uint i = get_local_id(0) + turn * GROUP, s = i % BATCH, part = i / BATCH;
        EACH(n, UNITS_A_PART) {
            const uint k = part + n * PARTS;
            own->active[turn][n] = k < SECOND && part < PARTS ? active_second[k * BATCH + s] : 0.0f;
        }
        float4 scores[CLASS_QUADS];
        EACH(q, CLASS_QUADS) scores[q] = (float4)(0.0f);
        EACH(n, UNITS_A_PART) {
            const uint k = part + n * PARTS, at = k < SECOND ? k : 0;
            EACH(q, CLASS_QUADS) scores[q] += own->active[turn][n] * third[at * CLASS_QUADS + q];
        }
        if (part < PARTS)
            EACH(c, CLASSES) memory->pool[(part * CLASSES + c) * BATCH + s] = ((const float *)scores)[c];
    }
}

// pool[k, s] = deltas of the second layer, parts[part, s] = part of the slope by the unit's activation
static inline void second_deltas(local Memory *memory, const Own *own)
{
    local const float4 *third = (local const float4 *)memory->third;
    EACH(turn, SAMPLE_TURNS) {
        const uint i = get_local_id(0) + turn * GROUP, s = i % BATCH, part = i / BATCH;
        float4 back[CLASS_QUADS];
        EACH(c, CLASS_QUADS * 4) ((float *)back)[c] = c < CLASSES ? memory->back[c * BATCH + s] : 0.0f;
        float slope = 0.0f;
        EACH(n, UNITS_A_PART) {
            const uint k = part + n * PARTS;
            if (k < SECOND && part < PARTS) {
                float4 sum = back[0] * third[k * CLASS_QUADS];
                _Pragma("unroll") for (uint q = 1; q < CLASS_QUADS; q++)
                    sum += back[q] * third[k * CLASS_QUADS + q];
                const float delta = own->active[turn][n] > 0.0f ? (sum.x + sum.y) + (sum.z + sum.w) : 0.0f;
                memory->pool[k * BATCH + (s ^ (k & 31))] = delta; // so turned, neither rows nor columns share a bank
                slope += delta * memory->row[k];
            }
        }
        if (part < PARTS)
            memory->parts[i] = slope;
    }
}

static inline void small_gradients(local Memory *memory, const Own *own)
{
    const uint t = get_local_id(0), k = t % SECOND;
    float weights = 0.0f, bias = 0.0f;
    if (t < ROW_PARTS * SECOND)
        for (uint s = t / SECOND; s < BATCH; s += ROW_PARTS) {
            const float delta = memory->pool[k * BATCH + (s ^ (k & 31))];
            weights += memory->active[s] * delta;
            bias += delta;
        }
    memory->third[t] = weights;
    memory->third[GROUP + t] = bias;
    EACH(turn, THIRD_PART_TURNS) {
        const uint i = t + turn * GROUP, c = (get_group_id(0) + i / 32 * FIRST) % CLASSES;
        float sum = 0.0f;
        EACH(n, BATCH / 32)
            sum += own->third_active[turn][n] * memory->back[c * BATCH + i % 32 + n * 32];
        if (i < THIRD_SHARE * 32)
            memory->third_parts[i] = sum;
    }
    SPREAD(s, BATCH) {
        float slope = 0.0f;
        for (uint part = 0; part < PARTS; part++)
            slope += memory->parts[part * BATCH + s];
        memory->parts[s] = memory->active[s] > 0.0f ? slope : 0.0f;
    }
}

// a weight and its momentum, a step on
static inline float2 descended(float2 weight, float gradient)
{
    const float moment = MOMENTUM * weight.y + gradient;
    return (float2)(weight.x - RATE * moment, moment);
}

// all groups read the third layer's weights while their owners write them: so they are read at one place, written at another
static inline void small_updates(local Memory *memory, const Own *own, uint step, global float *second, global float *third)
{
    const uint unit = get_group_id(0), k = get_local_id(0);
    global float *next = third + THIRD_NOW(step + 1);
    if (k < SECOND) {
        float weights = 0.0f, bias = 0.0f;
        for (uint part = 0; part < ROW_PARTS; part++) {
            weights += memory->third[part * SECOND + k];
            bias += memory->third[GROUP + part * SECOND + k];
        }
        const float2 row = descended(own->row, weights), moved = descended(own->bias, bias);
        second[unit * 2 * SECOND + k] = row.x;
        second[(unit * 2 + 1) * SECOND + k] = row.y;
        if (k % FIRST == unit) {
            second[FIRST * 2 * SECOND + k] = moved.x;
            second[(FIRST * 2 + 1) * SECOND + k] = moved.y;
        }
    }
    EACH(turn, THIRD_TURNS) {
        const uint i = k + turn * GROUP, entry = unit + i * FIRST;
        if (i < THIRD_SHARE && entry < THIRD_SIZE) {
            float sum = 0.0f;
            for (uint part = 0; part < 32; part++)
                sum += memory->third_parts[i * 32 + part];
            const float2 moved = descended(own->third[turn], sum);
            next[entry] = moved.x;
            third[2 * THIRD_SIZE + entry] = moved.y;
        }
    }
}

static inline void own_update(local Memory *memory, const Own *own, global float *first)
{
    global float *weights = first + get_group_id(0) * 2 * (PIXELS + 1), *moments = weights + PIXELS + 1;
    EACH(turn, PIXEL_TURNS) {
        const uint p = get_local_id(0) + turn * GROUP;
        float sum = 0.0f;
        EACH(tile, TILES) {
            const uint bits = own->bits[turn][tile];
            local const float *table = memory->pool + tile * 8 * 16;
            float even = 0.0f, odd = 0.0f;
            EACH(q, 4) {
                even += table[2 * q * 16 + (bits >> 8 * q & 15)];
                odd += table[(2 * q + 1) * 16 + (bits >> 8 * q + 4 & 15)];
            }
            sum += even + odd;
        }
        if (p <= PIXELS) {
            const float moment = MOMENTUM * own->moments[turn] + sum, weight = memory->own[p] - RATE * moment;
            moments[p] = moment;
            weights[p] = weight;
            memory->own[p] = weight;
        }
    }
}

static inline void phase_learn(local Memory *memory, Own *own, uint step, global const uchar *batch_labels, global float *first,
                               global float *second, global float *third, global const float *active_second)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    scores_of_parts(memory, own, active_second);
    barrier(CLK_LOCAL_MEM_FENCE);
    softmax(memory, step, batch_labels, third + THIRD_NOW(step) + SECOND * CLASSES);
    barrier(CLK_LOCAL_MEM_FENCE);
    second_deltas(memory, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    small_gradients(memory, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    small_updates(memory, own, step, second, third);
    SPREAD(i, BATCH * 4)
        memory->pool[i] = sum_of_four(memory->parts + i / 16 * 4, i % 16, 4);
    barrier(CLK_LOCAL_MEM_FENCE);
    own_update(memory, own, first);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
