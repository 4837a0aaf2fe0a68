// persistent - many training steps in one launch, without a barrier of all groups: they tell each other numbers (exchange.cl)
//
// A group is a hidden unit and a part of the picture's rows. Its work-items hold the part's weights and their moments, a pixel or a
// few each, for the whole launch. A group also answers for some samples of the batch. A step:
//
//   add       the group's part of its unit's sum for every sample; it tells them, and the unit's row of the output layer
//   score     who answers for a sample hears its sums and all rows, and tells the loss's slopes by the sample's scores
//   learn     each group hears the slopes of all samples, with the same bits everywhere, and moves its own weights
//
// Four pixels of a row have 16 possible sums of their weights. A table of them replaces four products by one look-up, and since the
// work-items of a group look up the same four pixels at a time, in different banks, nothing waits. The gradient is the same with
// samples and pixels exchanged: a pixel is set in some of four samples, whose slopes have 16 possible sums.
//
// In         samples, masks, batch_labels: from batches.cl;  rates (steps): from schedule.py;  first, count: the steps to run
// In, out    hidden (PIXELS + 1, 3, HIDDEN_LANES), output (HIDDEN_LANES + 1, 3, CLASS_LANES): weight and two moments; biases last
//            scalars: [0..2] log of the temperature's inverse and its moments, [3] the losses without penalties, summed from step 0 on
//            penalties (HIDDEN): each unit's range penalty, likewise
// Scratch    told, all 0 before step 0: [0] whether somebody did not come; [4...] words of exchange.cl: sums (2, BATCH, HIDDEN,
//            PARTS), rows (2, HIDDEN, ROW_FLOATS), slopes (2, BATCH, 4 * WORD_QUADS)
// Sizes      lanes.cl, units.cl, exchange.cl, spread.cl; PARTS; SPLIT: work-items that share a sample; SLICES: work-items that
//            share a score; POOL, PLANES: floats, and floats a sample, of shared scratch;  LEAVE_OUT: 0, or to see what time they
//            take, a bit for each part of a step that is left out, as zxml/bench_steps.py names them
// Source     persistent threads: Gupta, Stuart and Owens, A study of persistent threads style GPU programming, InPar 2012

#define PART_ROWS (ROWS / PARTS)
#define PART_PIXELS (PART_ROWS * COLS)
#define ROW_QUADS ((COLS + 3) / 4)
#define QUADS (PART_ROWS * ROW_QUADS)
#define ROW_FLOATS ((CLASSES + 3) / 4 * 4)
#define GROUPS (HIDDEN * PARTS)
#define OWNED ((BATCH + GROUPS - 1) / GROUPS) // samples that a group answers for
#define OWN_SAMPLE(k) (get_group_id(0) + (k) * GROUPS)
#define WORDS (CLASSES + 2) // told of a sample: the loss's slopes by its scores and by the temperature, and the loss
#define WORD_QUADS ((WORDS + 3) / 4)
#define TURNS ((PART_PIXELS + GROUP - 1) / GROUP) // pixels of a work-item
#define SAMPLE_TURNS ((SPLIT * BATCH + GROUP - 1) / GROUP)
#define ROW_TURNS ((PART_ROWS + SPLIT - 1) / SPLIT)
#define ADDERS 16 // work-items that add up one of the small sums over the batch
#define FIRST_BIAS CLASSES // numbers of the small sums and, up to TEMPERATURE, of the small parameters
#define UNIT_BIAS (2 * CLASSES)
#define TEMPERATURE (2 * CLASSES + 1)
#define LOSS (2 * CLASSES + 2)
#define PENALTY (2 * CLASSES + 3)
#define SMALL (2 * CLASSES + 4)
#define PART(bit, call)          \
    if (!(LEAVE_OUT >> (bit) & 1)) \
    call

// local memory of a group
typedef struct {
    float pool[POOL] __attribute__((aligned(16))); // by turns: sums of four weights; levels and scores; sums of four slopes
    float planes[PLANES * BATCH];                  // by turns: (SPLIT, BATCH) parts of sums; (WORDS, BATCH) what is told of samples
    float weights[4 * QUADS];                      // as used, rows filled up to quads
    float rows[HIDDEN * ROW_FLOATS] __attribute__((aligned(16))); // of the output layer
    float sums[BATCH], slopes[BATCH];              // of the unit
    float small[3 * SMALL], parts[SMALL * ADDERS];
} Memory;

// what a work-item holds: its pixels' weights and moments, the bits it sees next, and its patience
typedef struct {
    float weight[TURNS], one[TURNS], two[TURNS];
    uint bits[TURNS][TILES], words[SAMPLE_TURNS][ROW_TURNS];
    uint patience;
} Own;

static inline uint my_unit(void)
{
    return get_group_id(0) / PARTS;
}

static inline uint my_part(void)
{
    return get_group_id(0) % PARTS;
}

// where small parameter `which` of a group lies in hidden, output or scalars, and how far apart its moments are
static inline global float *small_place(uint which, global float *hidden, global float *output, global float *scalars, uint *apart)
{
    *apart = which < UNIT_BIAS ? CLASS_LANES : which == UNIT_BIAS ? HIDDEN_LANES : 1;
    return which < FIRST_BIAS   ? output + my_unit() * 3 * CLASS_LANES + which
           : which < UNIT_BIAS  ? output + HIDDEN_LANES * 3 * CLASS_LANES + which - FIRST_BIAS
           : which == UNIT_BIAS ? hidden + PIXELS * 3 * HIDDEN_LANES + my_unit()
                                : scalars;
}

static inline uint pixel_place(uint pixel)
{
    return (my_part() * PART_PIXELS + pixel) * 3 * HIDDEN_LANES + my_unit();
}

static inline uint slot_of(uint pixel)
{
    return pixel / COLS * 4 * ROW_QUADS + pixel % COLS;
}

static inline void load_words(Own *own, global const uint *samples, uint step)
{
    EACH(turn, SAMPLE_TURNS) EACH(n, ROW_TURNS) {
        const uint i = ITEM + turn * GROUP, row = i / BATCH + n * SPLIT;
        const uint place = (step * ROWS + my_part() * PART_ROWS + min(row, PART_ROWS - 1u)) * BATCH + i % BATCH;
        own->words[turn][n] = row < PART_ROWS ? samples[place] : 0;
    }
}

static inline void load_bits(Own *own, global const uint *masks, uint step)
{
    EACH(turn, TURNS) EACH(tile, TILES) {
        const uint pixel = min(ITEM + turn * GROUP, PART_PIXELS - 1u);
        own->bits[turn][tile] = masks[(step * TILES + tile) * PIXELS + my_part() * PART_PIXELS + pixel];
    }
}

// table (counts, 16) = the sums of four values for each choice of them
static inline void fill_table(local float *table, local const float *values, uint count)
{
    SPREAD(i, 16 * count) {
        float sum = 0.0f;
        EACH(k, 4)
            sum += i >> k & 1 ? values[i / 16 * 4 + k] : 0.0f;
        table[i] = sum;
    }
}

// planes (SPLIT, BATCH) = parts of the sums
static inline void add_pixels(local Memory *memory, const Own *own)
{
    EACH(turn, SAMPLE_TURNS) {
        const uint i = ITEM + turn * GROUP;
        float sum = 0.0f;
        EACH(n, ROW_TURNS) {
            const uint row = i / BATCH + n * SPLIT, bits = own->words[turn][n];
            local const float *table = memory->pool + min(row, PART_ROWS - 1u) * ROW_QUADS * 16; // no bits are worth 0 in every row
            float even = 0.0f, odd = 0.0f;
            EACH(q, ROW_QUADS) {
                if (q % 2)
                    odd += table[q * 16 + (bits >> 4 * q & 15)];
                else
                    even += table[q * 16 + (bits >> 4 * q & 15)];
            }
            sum += even + odd;
        }
        if (i < SPLIT * BATCH)
            memory->planes[i] = sum;
    }
}

static inline void tell_sums(local Memory *memory, volatile global uint *told_sums, uint step)
{
    SPREAD(s, BATCH) {
        float sum = my_part() == 0 ? USED(memory->small[3 * UNIT_BIAS]) : 0.0f;
        EACH(k, SPLIT)
            sum += memory->planes[k * BATCH + s];
        tell(told_sums + (s * HIDDEN + my_unit()) * PARTS + my_part(), sum, step);
    }
}

static inline float hear_sum(volatile global const uint *told_sums, uint sample, uint unit, uint step, Own *own)
{
    float parts[PARTS], sum = 0.0f;
    hear(told_sums + (sample * HIDDEN + unit) * PARTS, PARTS, step, parts, &own->patience);
    EACH(k, PARTS)
        sum += parts[k];
    return sum;
}

// pool: levels (OWNED, HIDDEN) of the samples that the group answers for; and rows
static inline void hear_levels(local Memory *memory, volatile global const uint *told_sums, volatile global const uint *told_rows,
                               uint step, Own *own)
{
    SPREAD(i, OWNED * HIDDEN)
        if (OWN_SAMPLE(i / HIDDEN) < BATCH)
            memory->pool[i] = LEVEL(hear_sum(told_sums, OWN_SAMPLE(i / HIDDEN), i % HIDDEN, step, own));
    if (OWN_SAMPLE(0) < BATCH)
        for (uint i = GROUP - 1 - ITEM; i < HIDDEN * ROW_FLOATS / 4; i += GROUP) {
            float four[4];
            hear_fours(told_rows + 4 * i, 1, step, four, &own->patience);
            EACH(k, 4) memory->rows[4 * i + k] = four[k];
        }
}

// tell of each sample that the group answers for the loss's slopes by its scores and by the temperature, and the loss
static inline void score(local Memory *memory, global const uchar *labels, volatile global uint *told_slopes, uint step)
{
    local float *parts = memory->pool + OWNED * HIDDEN, *scores = parts + OWNED * CLASSES * SLICES;
    SPREAD(i, OWNED * CLASSES * SLICES) {
        const uint k = i / (CLASSES * SLICES), c = i / SLICES % CLASSES;
        float sum = 0.0f;
        _Pragma("unroll 8") for (uint j = i % SLICES; j < HIDDEN; j += SLICES)
            sum += memory->pool[k * HIDDEN + j] * memory->rows[j * ROW_FLOATS + c];
        parts[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    SPREAD(i, OWNED * CLASSES) {
        float sum = USED(memory->small[3 * (FIRST_BIAS + i % CLASSES)]);
        EACH(k, SLICES)
            sum += parts[i * SLICES + k];
        scores[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float scale = exp(memory->small[3 * TEMPERATURE]) * LOGIT_SCALE;
    SPREAD(i, OWNED * 4 * WORD_QUADS) {
        const uint sample = OWN_SAMPLE(i / (4 * WORD_QUADS)), word = i % (4 * WORD_QUADS);
        local const float *own_scores = scores + i / (4 * WORD_QUADS) * CLASSES;
        float most = -INFINITY, total = 0.0f, slope = 0.0f, chosen = 0.0f;
        if (sample < BATCH) {
            const uint label = labels[step * BATCH + sample];
            EACH(c, CLASSES)
                most = fmax(most, own_scores[c] * scale);
            EACH(c, CLASSES)
                total += exp(own_scores[c] * scale - most);
            EACH(c, CLASSES) {
                const float delta = (exp(own_scores[c] * scale - most) / total - (c == label ? 1.0f : 0.0f)) * (scale / BATCH);
                slope += delta * own_scores[c];
                chosen = c == word ? delta : chosen;
            }
            chosen = word == CLASSES ? slope : word > CLASSES ? most + log(total) - own_scores[label] * scale : chosen;
            tell(told_slopes + sample * 4 * WORD_QUADS + word, chosen, step);
        }
    }
}

// planes (WORDS, BATCH) = what is told of the samples; sums, slopes: of the unit
static inline void hear_slopes(local Memory *memory, volatile global const uint *told_sums,
                               volatile global const uint *told_slopes, uint step, Own *own)
{
    SPREAD(s, BATCH) {
        float words[4 * WORD_QUADS], slope = 0.0f;
        const float sum = hear_sum(told_sums, s, my_unit(), step, own);
        hear_fours(told_slopes + s * 4 * WORD_QUADS, WORD_QUADS, step, words, &own->patience);
        EACH(c, CLASSES)
            slope += words[c] * USED(memory->small[3 * c]);
        EACH(c, WORDS)
            memory->planes[c * BATCH + s] = words[c];
        memory->sums[s] = sum;
        memory->slopes[s] = delta_of(sum, slope).x;
    }
}

// parts (SMALL, ADDERS) of the small sums
static inline void add_small(local Memory *memory)
{
    SPREAD(i, SMALL * ADDERS) {
        const uint which = i / ADDERS;
        const uint plane = which < UNIT_BIAS ? which % CLASSES : which == LOSS ? CLASSES + 1 : CLASSES;
        float sum = 0.0f;
        EACH(k, (BATCH + ADDERS - 1) / ADDERS) {
            const uint s = i % ADDERS + k * ADDERS;
            const float told = memory->planes[plane * BATCH + s], own = memory->sums[s];
            sum += which < FIRST_BIAS   ? LEVEL(own) * told
                   : which == UNIT_BIAS ? memory->slopes[s]
                   : which == PENALTY   ? delta_of(own, 0.0f).y
                                        : told;
        }
        memory->parts[i] = sum;
    }
}

static inline void descend_pixels(local Memory *memory, Own *own, float4 rates)
{
    EACH(turn, TURNS) {
        const uint pixel = ITEM + turn * GROUP;
        float gradient = 0.0f;
        EACH(tile, TILES) {
            const uint bits = own->bits[turn][tile];
            local const float *table = memory->pool + tile * 8 * 16;
            float even = 0.0f, odd = 0.0f;
            EACH(q, 4) {
                even += table[2 * q * 16 + (bits >> 8 * q & 15)];
                odd += table[(2 * q + 1) * 16 + (bits >> 8 * q + 4 & 15)];
            }
            gradient += even + odd;
        }
        descend(&own->weight[turn], &own->one[turn], &own->two[turn], gradient, rates, HIDDEN_STEP, HIDDEN_LIMIT);
        if (pixel < PART_PIXELS)
            memory->weights[slot_of(pixel)] = USED(own->weight[turn]);
    }
}

// small (SMALL, 3): one step of each small parameter, of which only the own row decays, and what the batch adds to the losses
static inline void descend_small(local Memory *memory, float4 rates)
{
    local float *small = memory->small;
    for (uint i = GROUP - 1 - ITEM; i < SMALL; i += GROUP) {
        float gradient = 0.0f;
        EACH(k, ADDERS)
            gradient += memory->parts[i * ADDERS + k];
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

static inline void load_all(local Memory *memory, Own *own, global float *hidden, global float *output, global float *scalars)
{
    SPREAD(i, 4 * QUADS)
        memory->weights[i] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH(turn, TURNS) {
        const uint pixel = min(ITEM + turn * GROUP, PART_PIXELS - 1u);
        global const float *place = hidden + pixel_place(pixel);
        own->weight[turn] = place[0];
        own->one[turn] = place[HIDDEN_LANES];
        own->two[turn] = place[2 * HIDDEN_LANES];
        memory->weights[slot_of(pixel)] = USED(own->weight[turn]);
    }
    SPREAD(i, SMALL) {
        uint apart;
        global const float *place = small_place(i, hidden, output, scalars, &apart);
        for (uint k = 0; k < 3; k++)
            memory->small[3 * i + k] = i <= TEMPERATURE ? place[k * apart] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void store_all(local Memory *memory, const Own *own, global float *hidden, global float *output,
                             global float *scalars, global float *penalties, uint first)
{
    EACH(turn, TURNS) {
        const uint pixel = ITEM + turn * GROUP;
        if (pixel < PART_PIXELS) {
            global float *place = hidden + pixel_place(pixel);
            place[0] = own->weight[turn];
            place[HIDDEN_LANES] = own->one[turn];
            place[2 * HIDDEN_LANES] = own->two[turn];
        }
    }
    if (my_part() == 0)
        SPREAD(i, TEMPERATURE + 1)
            if (i < FIRST_BIAS || i == UNIT_BIAS || my_unit() == 0) {
                uint apart;
                global float *place = small_place(i, hidden, output, scalars, &apart);
                for (uint k = 0; k < 3; k++)
                    place[k * apart] = memory->small[3 * i + k];
            }
    if (my_part() == 0 && ITEM == 0) {
        penalties[my_unit()] = (first ? penalties[my_unit()] : 0.0f) + memory->small[3 * PENALTY];
        if (my_unit() == 0)
            scalars[3] = (first ? scalars[3] : 0.0f) + memory->small[3 * LOSS];
    }
}

GROUPED void persistent(global const uint *restrict samples, global const uint *restrict masks,
                        global const uchar *restrict batch_labels, global const float4 *restrict rates_of_step,
                        global float *hidden, global float *output, global float *scalars, global float *penalties,
                        volatile global uint *told, uint first, uint count)
{
    local Memory memory;
    Own own;
    own.patience = told[0] || (LEAVE_OUT & 1) ? 0 : PATIENCE;
    load_all(&memory, &own, hidden, output, scalars);
    load_words(&own, samples, first);
    for (uint step = first; step < first + count; step++) {
        const uint now = step % 2;
        volatile global uint *told_sums = told + 4, *told_rows = told_sums + 2 * BATCH * GROUPS;
        volatile global uint *told_slopes = told_rows + 2 * HIDDEN * ROW_FLOATS + now * BATCH * 4 * WORD_QUADS;
        told_sums += now * BATCH * GROUPS;
        told_rows += now * HIDDEN * ROW_FLOATS;
        const float4 rates = rates_of_step[step];
        if (my_part() == 0)
            SPREAD(c, ROW_FLOATS)
                tell(told_rows + my_unit() * ROW_FLOATS + c, c < CLASSES ? USED(memory.small[3 * c]) : 0.0f, step);
        load_bits(&own, masks, step);
        PART(1, fill_table(memory.pool, memory.weights, QUADS));
        barrier(CLK_LOCAL_MEM_FENCE);
        PART(2, add_pixels(&memory, &own));
        barrier(CLK_LOCAL_MEM_FENCE);
        tell_sums(&memory, told_sums, step);
        load_words(&own, samples, step + 1); // one batch past the epoch's after its last step, to no effect
        barrier(CLK_LOCAL_MEM_FENCE);
        hear_levels(&memory, told_sums, told_rows, step, &own);
        barrier(CLK_LOCAL_MEM_FENCE);
        PART(3, score(&memory, batch_labels, told_slopes, step));
        barrier(CLK_LOCAL_MEM_FENCE);
        hear_slopes(&memory, told_sums, told_slopes, step, &own);
        barrier(CLK_LOCAL_MEM_FENCE);
        PART(1, fill_table(memory.pool, memory.slopes, BATCH / 4));
        PART(4, add_small(&memory));
        barrier(CLK_LOCAL_MEM_FENCE);
        PART(5, descend_pixels(&memory, &own, rates));
        PART(4, descend_small(&memory, rates));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    store_all(&memory, &own, hidden, output, scalars, penalties, first);
    if (own.patience == 0 && !(LEAVE_OUT & 1))
        told[0] = 1;
}
