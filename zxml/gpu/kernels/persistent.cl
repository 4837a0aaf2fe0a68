// persistent - many training steps in one launch, with one meeting of all groups a step
//
// A group is a hidden unit and a part of the picture's rows: its weights and their moments stay in local memory. A step: the
// group adds its pixels for every sample of the batch and publishes the sums and its unit's row of the output layer; all groups
// meet; each group computes the whole output layer, with the same bits everywhere, and from it the gradients of its own weights.
//
// Pixels lie in quads of 4 of a row: a nibble of the row's word or, GREY, 4 bytes. A quad's weights are slots 4q .. 4q + 3. A sum of
// bits is read from tables: the sum of a quad's weights for each of its 16 patterns.
//
// In         pictures (n, ROWS): a row a word, bit c = column c;  GREY: (n, PIXELS) bytes;  labels (n)
//            order (steps, BATCH): which pictures;  rates (steps): from schedule.py;  first, count: the steps to run
// In, out    hidden (PIXELS + 1, 3, HIDDEN_LANES), output (HIDDEN_LANES + 1, 3, CLASS_LANES): weight and two moments; biases last
//            scalars: [0..2] log of the temperature's inverse and its moments, [3] the losses without penalties, summed over steps
//            penalties (HIDDEN): each unit's range penalty, summed over steps;  meeting: meet.cl
// Scratch    sums (2, PARTS, HIDDEN, BATCH), rows (2, HIDDEN, ROW_FLOATS)
// Sizes      lanes.cl, units.cl, meet.cl; PARTS; SPLIT: work-items that share a sample, GROUP / BATCH or 1; SLICES of the batch that
//            the gradient is added in; BIG: floats of the shared scratch; WIDE: words a load of GREY takes
// Source     persistent threads: Gupta, Stuart and Owens, A study of persistent threads style GPU programming, InPar 2012

#define PART_ROWS (ROWS / PARTS)
#define ROW_QUADS ((COLS + 3) / 4)
#define QUADS (PART_ROWS * ROW_QUADS)
#define SLOTS (4 * QUADS)
#define ROW_FLOATS ((CLASSES + 3) / 4 * 4)
#define SHARE ((HIDDEN + SPLIT - 1) / SPLIT) // hidden units that a work-item adds to a sample's scores
#define STRETCH ((BATCH + SLICES - 1) / SLICES)
#define ADDERS 16 // work-items that add up one of the small sums over the batch
#define FIRST_BIAS CLASSES // numbers of the small sums and, up to TEMPERATURE, of the small parameters
#define UNIT_BIAS (2 * CLASSES)
#define TEMPERATURE (2 * CLASSES + 1)
#define LOSS (2 * CLASSES + 2)
#define PENALTY (2 * CLASSES + 3)
#define SMALL (2 * CLASSES + 4)

#ifdef GREY
#define CHUNKS (QUADS / WIDE) // of a part of a picture; a chunk is what one load takes
#if WIDE == 4
typedef uint4 Chunk;
#elif WIDE == 2
typedef uint2 Chunk;
#else
typedef uint Chunk;
#endif
#define PIXEL(word, k) ((float)((word) >> 8 * (k) & 255u))
#else
#define CHUNKS PART_ROWS
typedef uint Chunk;
#define PIXEL(word, k) ((float)((word) >> (k) & 1u))
#endif
#define MY_CHUNKS ((CHUNKS + SPLIT - 1) / SPLIT) // that one of the work-items of a sample loads
#if BATCH <= GROUP && MY_CHUNKS <= 32
#define AHEAD // a work-item loads its chunks of the next step while it waits
#endif

#ifdef GREY
typedef const uchar Picture;
#else
typedef const uint Picture;
#endif

static inline global const Chunk *part_of(global Picture *pictures, uint picture, uint part)
{
#ifdef GREY
    return (global const Chunk *)(pictures + picture * PIXELS + part * PART_ROWS * COLS);
#else
    return pictures + picture * ROWS + part * PART_ROWS;
#endif
}

// the sum of a chunk's pixels; weights (SLOTS), table (QUADS, 16)
static inline float chunk_sum(Chunk chunk, uint number, local const float *weights, local const float *table)
{
    float sum = 0.0f;
#ifdef GREY
    const uint *words = (const uint *)&chunk;
    _Pragma("unroll") for (uint j = 0; j < WIDE; j++)
        _Pragma("unroll") for (uint k = 0; k < 4; k++)
            sum += PIXEL(words[j], k) * weights[4 * (WIDE * number + j) + k];
#else
    _Pragma("unroll") for (uint j = 0; j < ROW_QUADS; j++)
        sum += table[16 * (ROW_QUADS * number + j) + (chunk >> 4 * j & 15u)];
#endif
    return sum;
}

#ifdef AHEAD
#define MY_SAMPLE min((uint)get_local_id(0) / SPLIT, BATCH - 1u)

// without a branch, on which PoCL fails: who has no sample or no chunk loads another's
static inline void load_ahead(global const Chunk *chunks, Chunk *ahead)
{
    _Pragma("unroll") for (uint k = 0; k < MY_CHUNKS; k++)
        ahead[k] = chunks[min((uint)get_local_id(0) % SPLIT + k * SPLIT, CHUNKS - 1u)];
}
#endif

// the 4 pixels of a quad of a part, in the low bits or bytes
static inline uint quad_of(global Picture *pictures, uint picture, uint part, uint quad)
{
#ifdef GREY
    return ((global const uint *)(pictures + picture * PIXELS + part * PART_ROWS * COLS))[quad];
#else
    return pictures[picture * ROWS + part * PART_ROWS + quad / ROW_QUADS] >> 4 * (quad % ROW_QUADS);
#endif
}

// the whole sum of a unit for a sample
static inline float sum_of(global const float *published, uint unit, uint sample)
{
    float sum = published[unit * BATCH + sample];
    _Pragma("unroll") for (uint part = 1; part < PARTS; part++)
        sum += published[(part * HIDDEN + unit) * BATCH + sample];
    return sum;
}

// one of the ADDERS' parts of small sum `which`; deltas of the scores are (CLASSES, BATCH)
static inline float small_part(uint which, uint adder, local const float *own, local const float *score_deltas,
                               local const float *deltas, local const float *losses, local const float *slopes)
{
    float sum = 0.0f;
    for (uint s = adder; s < BATCH; s += ADDERS) {
        const float term = which < FIRST_BIAS    ? LEVEL(own[s]) * score_deltas[which * BATCH + s]
                           : which < UNIT_BIAS   ? score_deltas[(which - FIRST_BIAS) * BATCH + s]
                           : which == UNIT_BIAS  ? deltas[s]
                           : which == TEMPERATURE ? slopes[s]
                           : which == LOSS       ? losses[s]
                                                 : delta_of(own[s], 0.0f).y;
        sum += term;
    }
    return sum;
}

// where small parameter `which` of a group lies in hidden, output or scalars, and how far apart its moments are
static inline global float *small_place(uint which, uint unit, global float *hidden, global float *output, global float *scalars,
                                        uint *apart)
{
    *apart = which < UNIT_BIAS ? CLASS_LANES : which == UNIT_BIAS ? HIDDEN_LANES : 1;
    return which < FIRST_BIAS   ? output + unit * 3 * CLASS_LANES + which
           : which < UNIT_BIAS  ? output + HIDDEN_LANES * 3 * CLASS_LANES + which - FIRST_BIAS
           : which == UNIT_BIAS ? hidden + PIXELS * 3 * HIDDEN_LANES + unit
                                : scalars;
}

// where a slot's weight lies in hidden, or -1 for a slot beyond the row's end
static inline int slot_place(uint slot, uint part, uint unit)
{
    const uint row = part * PART_ROWS + slot / 4 / ROW_QUADS, col = slot / 4 % ROW_QUADS * 4 + slot % 4;
    return col < COLS ? (int)((row * COLS + col) * 3 * HIDDEN_LANES + unit) : -1;
}

// table (QUADS, 16) = the sum of a quad's weights for each pattern of its pixels
static inline void fill_table(local const float *weights, local float *table)
{
    for (uint i = get_local_id(0); i < 16 * QUADS; i += GROUP) {
        float sum = 0.0f;
        for (uint k = 0; k < 4; k++)
            sum += (i >> k & 1) ? USED(weights[i / 16 * 4 + k]) : 0.0f;
        table[i] = sum;
    }
}

// big (SPLIT, CLASSES, BATCH) = parts of the scores
static inline void add_scores(global const float *published, local const float *rows, local float *big)
{
    for (uint i = get_local_id(0); i < BATCH * SPLIT; i += GROUP) {
        const uint s = i % BATCH, share = i / BATCH;
        float scores[CLASSES];
        for (uint c = 0; c < CLASSES; c++)
            scores[c] = 0.0f;
        _Pragma("unroll 16") for (uint k = 0; k < SHARE; k++) {
            const uint j = min(share * SHARE + k, HIDDEN - 1u);
            const float level = share * SHARE + k < HIDDEN ? LEVEL(sum_of(published, j, s)) : 0; // PoCL fails on a branch
            _Pragma("unroll") for (uint c = 0; c < CLASSES; c++)
                scores[c] += level * rows[j * ROW_FLOATS + c];
        }
        for (uint c = 0; c < CLASSES; c++)
            big[(share * CLASSES + c) * BATCH + s] = scores[c];
    }
}

// the first (CLASSES, BATCH) of big = deltas of the scores; own, deltas, losses, slopes (BATCH): see small_part
static inline void find_deltas(global const float *published, uint unit, local const float *rows, local const float *small,
                               local const uchar *answers, local float *big, local float *own, local float *deltas,
                               local float *losses, local float *slopes)
{
    const float scale = exp(small[3 * TEMPERATURE]) * LOGIT_SCALE;
    for (uint s = get_local_id(0); s < BATCH; s += GROUP) {
        float scores[CLASSES], most = -INFINITY, total = 0.0f, slope = 0.0f, loss = 0.0f, back = 0.0f;
        const float mine = sum_of(published, unit, s);
        _Pragma("unroll") for (uint c = 0; c < CLASSES; c++) {
            scores[c] = USED(small[3 * (FIRST_BIAS + c)]);
            for (uint k = 0; k < SPLIT; k++)
                scores[c] += big[(k * CLASSES + c) * BATCH + s];
            most = fmax(most, scores[c] * scale);
        }
        _Pragma("unroll") for (uint c = 0; c < CLASSES; c++)
            total += exp(scores[c] * scale - most);
        _Pragma("unroll") for (uint c = 0; c < CLASSES; c++) {
            const bool right = answers[s] == c;
            const float delta = (exp(scores[c] * scale - most) / total - (right ? 1.0f : 0.0f)) * (scale / BATCH);
            loss = right ? most + log(total) - scores[c] * scale : loss;
            slope += delta * scores[c];
            back += delta * rows[unit * ROW_FLOATS + c];
            big[c * BATCH + s] = delta;
        }
        own[s] = mine;
        deltas[s] = delta_of(mine, back).x;
        losses[s] = loss;
        slopes[s] = slope;
    }
}

// gradients (SLICES, SLOTS) = parts of the loss's slopes by the group's weights
static inline void add_gradients(global Picture *pictures, local const uint *picked, uint part, local const float *deltas,
                                 local float *gradients)
{
    for (uint i = get_local_id(0); i < QUADS * SLICES; i += GROUP) {
        const uint quad = i % QUADS, slice = i / QUADS;
        float4 sum = (float4)(0.0f);
        _Pragma("unroll 16") for (uint k = 0; k < STRETCH; k++) {
            const uint s = slice * STRETCH + k;
            if (STRETCH * SLICES == BATCH || s < BATCH) {
                const uint word = quad_of(pictures, picked[s], part, quad);
                sum += deltas[s] * (float4)(PIXEL(word, 0), PIXEL(word, 1), PIXEL(word, 2), PIXEL(word, 3));
            }
        }
        vstore4(sum, slice * QUADS + quad, gradients);
    }
}

static inline void descend_weights(local float *weights, local const float *gradients, uint part, uint unit, float4 rates)
{
    for (uint i = get_local_id(0); i < SLOTS; i += GROUP) {
        float gradient = 0.0f;
        for (uint k = 0; k < SLICES; k++)
            gradient += gradients[k * SLOTS + i];
#ifdef GREY
        gradient *= GREY_STEP;
#endif
        float weight = weights[i], one = weights[SLOTS + i], two = weights[2 * SLOTS + i];
        descend(&weight, &one, &two, gradient, rates, HIDDEN_STEP, HIDDEN_LIMIT);
        weights[i] = slot_place(i, part, unit) < 0 ? 0.0f : weight;
        weights[SLOTS + i] = one;
        weights[2 * SLOTS + i] = two;
    }
}

// small (SMALL, 3): one step of each small parameter, of which only the own row decays, and what the batch adds to the losses
static inline void descend_small(local float *small, local const float *parts, float4 rates)
{
    for (uint i = get_local_id(0); i < SMALL; i += GROUP) {
        float gradient = 0.0f;
        for (uint k = 0; k < ADDERS; k++)
            gradient += parts[i * ADDERS + k];
        const float step_size = i < UNIT_BIAS ? OUTPUT_STEP : i == UNIT_BIAS ? HIDDEN_STEP : 1.0f;
        const float limit = i < FIRST_BIAS ? OUTPUT_LIMIT : i <= UNIT_BIAS ? BIAS_LIMIT : INFINITY;
        const float4 small_rates = (float4)(rates.x, rates.y, i < FIRST_BIAS ? rates.z : 0.0f, 0.0f);
        float weight = small[3 * i], one = small[3 * i + 1], two = small[3 * i + 2];
        const float added = weight + gradient / BATCH; // to a loss
        descend(&weight, &one, &two, gradient, small_rates, step_size, limit);
#ifdef FLOAT_NET
        weight = i == TEMPERATURE ? 0.0f : weight;
#endif
        small[3 * i] = i < LOSS ? weight : added;
        small[3 * i + 1] = one;
        small[3 * i + 2] = two;
    }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void persistent(global Picture *restrict pictures, global const uchar *restrict labels, global const uint *restrict order,
                global const float4 *restrict rates_of_step, global float *hidden, global float *output, global float *scalars,
                global float *penalties, global float *sums, global float *rows, volatile global uint *meeting, uint first,
                uint count)
{
    local float weights[3 * SLOTS] __attribute__((aligned(16))); // weights, first and second moments
    local float big[BIG] __attribute__((aligned(16)));
    local float other_rows[HIDDEN * ROW_FLOATS] __attribute__((aligned(16)));
    local float own[BATCH], deltas[BATCH], losses[BATCH], slopes[BATCH];
    local float small[3 * SMALL], parts_of_small[SMALL * ADDERS];
    local uint picked[2][BATCH];
    local uchar answers[2][BATCH];
    local float *table = big + SPLIT * BATCH; // (QUADS, 16), until the groups meet
    const uint item = get_local_id(0), unit = get_group_id(0) % HIDDEN, part = get_group_id(0) / HIDDEN;
    uint arrivals = 0;

    for (uint i = item; i < 3 * SLOTS; i += GROUP) {
        const int place = slot_place(i % SLOTS, part, unit);
        weights[i] = place < 0 ? 0.0f : hidden[place + (int)(i / SLOTS * HIDDEN_LANES)];
    }
    for (uint i = item; i < SMALL; i += GROUP) {
        uint apart;
        global const float *place = small_place(i, unit, hidden, output, scalars, &apart);
        for (uint k = 0; k < 3; k++)
            small[3 * i + k] = i <= TEMPERATURE ? place[k * apart] : 0.0f;
    }
    for (uint s = item; s < BATCH; s += GROUP) {
        picked[first & 1][s] = order[first * BATCH + s];
        answers[first & 1][s] = labels[picked[first & 1][s]];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef AHEAD
    Chunk ahead[MY_CHUNKS];
    load_ahead(part_of(pictures, picked[first & 1][MY_SAMPLE], part), ahead);
#endif

    for (uint step = first; step < first + count; step++) {
        const uint now = step & 1, next = now ^ 1;
        global float *published = sums + now * PARTS * HIDDEN * BATCH;
        const float4 rates = rates_of_step[step];

#ifndef GREY
        fill_table(weights, table);
#endif
        if (part == 0 && item < CLASSES)
            rows[(now * HIDDEN + unit) * ROW_FLOATS + item] = USED(small[3 * item]);
        barrier(CLK_LOCAL_MEM_FENCE);

        // big (SPLIT, BATCH) = parts of the own sums
        for (uint i = item; i < BATCH * SPLIT; i += GROUP) {
            float sum = 0.0f;
#ifdef AHEAD
            _Pragma("unroll") for (uint k = 0; k < MY_CHUNKS; k++)
                if (i % SPLIT + k * SPLIT < CHUNKS)
                    sum += chunk_sum(ahead[k], i % SPLIT + k * SPLIT, weights, table);
#else
            global const Chunk *chunks = part_of(pictures, picked[now][i / SPLIT], part);
            for (uint c = i % SPLIT; c < CHUNKS; c += SPLIT)
                sum += chunk_sum(chunks[c], c, weights, table);
#endif
            big[i % SPLIT * BATCH + i / SPLIT] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint s = item; s < BATCH; s += GROUP) {
            float sum = 0.0f;
            for (uint k = 0; k < SPLIT; k++)
                sum += big[k * BATCH + s];
#ifdef GREY
            sum *= GREY_STEP;
#endif
            published[(part * HIDDEN + unit) * BATCH + s] = part == 0 ? sum + USED(small[3 * UNIT_BIAS]) : sum;
        }

        for (uint s = item; s < BATCH; s += GROUP) {
            picked[next][s] = order[min(step + 1, first + count - 1) * BATCH + s];
            answers[next][s] = labels[picked[next][s]];
        }
        meet(meeting, &arrivals);

        for (uint i = item; i < HIDDEN * ROW_FLOATS; i += GROUP)
            other_rows[i] = i % ROW_FLOATS < CLASSES ? rows[now * HIDDEN * ROW_FLOATS + i] : 0.0f;
#ifdef AHEAD
        load_ahead(part_of(pictures, picked[next][MY_SAMPLE], part), ahead);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);

        add_scores(published, other_rows, big);
        barrier(CLK_LOCAL_MEM_FENCE);
        find_deltas(published, unit, other_rows, small, answers[now], big, own, deltas, losses, slopes);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < SMALL * ADDERS; i += GROUP)
            parts_of_small[i] = small_part(i / ADDERS, i % ADDERS, own, big, deltas, losses, slopes);
        local float *gradients = big + CLASSES * BATCH; // (SLICES, SLOTS)
        add_gradients(pictures, picked[now], part, deltas, gradients);
        barrier(CLK_LOCAL_MEM_FENCE);

        descend_weights(weights, gradients, part, unit, rates);
        descend_small(small, parts_of_small, rates);
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    for (uint i = item; i < 3 * SLOTS; i += GROUP) {
        const int place = slot_place(i % SLOTS, part, unit);
        if (place >= 0)
            hidden[place + (int)(i / SLOTS * HIDDEN_LANES)] = weights[i];
    }
    if (part == 0)
        for (uint i = item; i <= TEMPERATURE; i += GROUP)
            if (i < FIRST_BIAS || i == UNIT_BIAS || unit == 0) {
                uint apart;
                global float *place = small_place(i, unit, hidden, output, scalars, &apart);
                for (uint k = 0; k < 3; k++)
                    place[k * apart] = small[3 * i + k];
            }
    if (part == 0 && item == 0) {
        penalties[unit] += small[3 * PENALTY];
        if (unit == 0)
            scalars[3] += small[3 * LOSS];
    }
}
