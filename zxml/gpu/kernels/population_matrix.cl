// population_matrix - the two large matrix products of population.cl on the matrix units of NVIDIA's GPUs
//
// One pass over the weights takes a step's gradient of them, moves them, and at once adds up the next batch's pixels by the new
// weights while these are in registers; so open_pixels adds up the first batch's only, and add_pixels has nothing left to do. A
// pass after the last step adds up a batch that nobody reads. Every other pass goes backwards, as what the last pass read last is
// in the cache yet.
//
// Pixels are bits, exact as bf16. The other factor, a float, becomes a sum of numbers of bf16: the nearest, then the nearest to
// what is left, of FORWARD_TERMS for weights and GRADIENT_TERMS for slopes. Three make up the float exactly; with two it is off
// by 2**-17 of itself at most, 64 times less than TF32, which is off by 2**-11. Products are exact, and sums are kept in float32.
// A warp takes 16 units: it holds sums of 128 samples forward, and the slopes of 128 samples in the gradient, so that no two
// work-items need the same weight.
//
// The hidden layer's weights lie as they are read, and so that a warp reads and writes without gaps: (FLAT_WORDS, 4 warps, 3:
// weight and two moments, 2 units, 2 halves of a word, 32 lanes, 4 pixels), then (3, UNITS) biases. Lane 4 * g + t of warp w has
// units 16 * w + g and 16 * w + g + 8 and pixels t + 4 * k of a word; weights of pixels beyond the picture stay 0.
//
// A word of two bf16 is made of two bits that lie 16 apart: bit 14 alone is the number 2, so it takes a turn and a mask, and what
// comes of it is halved. The inner index of a product may be in any order, so pixels k and k + 16 of a word are neighbours
// forward, and samples s and s + 64 in the gradient.
//
// Sizes      population.cl, of which BATCH <= BLOCK, PIXELS <= 1024; not GREY; FORWARD_TERMS, GRADIENT_TERMS: 1 to 3; AHEAD:
//            words of pixels that are on their way from memory, or 0
// Source     matrix_units.cl, for what lies where

#define WARP 32
#define FLAT_WORDS ((PIXELS + 31) / 32) // of a picture without gaps between its rows
#define HELD (2 * 2 * WARP * 4) // floats of a kind that a warp holds of a word
#define BIASES (FLAT_WORDS * 4 * 3 * HELD)
#define NET_FLOATS (BIASES + 3 * UNITS)
#ifdef FLOAT_NET
#define WEIGHT_TERMS FORWARD_TERMS
#else
#define WEIGHT_TERMS ((int)HIDDEN_LIMIT <= 256 ? 1 : FORWARD_TERMS) // integers of 8 bits need but one
#endif
#define TURNED(word, k) rotate(word, (32u - (k)) % 32u)
#define TWOS(word, k) (TURNED(word, k) & 0x40004000u) // of bits k and k + 16 of a word that was turned by 14 before

// terms (count) of two floats as words
static inline void split(float low, float high, uint count, uint *terms)
{
    EACH(term, count) {
        const uint pair = terms[term] = nearest_pair(low, high);
        low -= as_float(pair << 16);
        high -= as_float(pair & 0xFFFF0000u);
    }
}

// words (FLAT_WORDS) = a picture's bits without gaps
static inline void flatten(global Picture *pictures, uint picture, uint *words)
{
    ulong held = 0;
    uint count = 0, word = 0;
    EACH(row, ROWS) {
        held |= (ulong)pictures[picture * ROWS + row] << count;
        count += COLS;
        if (count >= 32) {
            words[word++] = (uint)held;
            held >>= 32;
            count -= 32;
        }
    }
    if (count)
        words[word] = (uint)held;
}

// the word of a picture that a pass takes at a turn, after a step
static inline uint word_at(uint turn, uint step)
{
    return step % 2 ? FLAT_WORDS - 1 - min(turn, FLAT_WORDS - 1u) : min(turn, FLAT_WORDS - 1u);
}

// where a lane's four pixels of a half of a word begin, of its unit j
static inline uint place_of(uint half_word, uint which, uint j)
{
    const uint item = get_local_id(0);
    return ((half_word / 2 * 4 + item / WARP) * 3 + which) * HELD + (j * 2 + half_word % 2) * WARP * 4 + item % WARP * 4;
}

// loaded (2 units, 4) = weights or moments of a half of a word
static inline void load_half(global const float *hidden, uint half_word, uint which, float (*loaded)[4])
{
    EACH(j, 2) {
        const float4 four = vload4(0, hidden + place_of(half_word, which, j));
        loaded[j][0] = four.x;
        loaded[j][1] = four.y;
        loaded[j][2] = four.z;
        loaded[j][3] = four.w;
    }
}

static inline void store_half(global float *hidden, uint half_word, uint which, float (*values)[4])
{
    EACH(j, 2)
        vstore4((float4)(values[j][0], values[j][1], values[j][2], values[j][3]), 0, hidden + place_of(half_word, which, j));
}

// a word's weights and moments leave for the second-level cache, 128 bytes a lane
static inline void fetch_word(global const float *hidden, uint word)
{
    const uint lane = get_local_id(0) % WARP, floats = (MOMENTS + 1) * HELD;
    global const float *place = hidden + place_of(2 * word, 0, 0) - lane * 4;
    EACH(turn, (floats + WARP * WARP - 1) / (WARP * WARP))
        fetch(place + min((turn * WARP + lane) * WARP, floats - WARP));
}

// bits (FLAT_WORDS, BLOCK) = words of a picture a work-item
static inline void spread_bits(const uint *words, local uint *bits)
{
    EACH(word, FLAT_WORDS) bits[word * BLOCK + get_local_id(0)] = words[word];
}

// squares (samples 16 * i + g and 8 on, units 8 * j + 2 * t and the next) = twice the biases
static inline void open_squares(local const float *biases, float (*squares)[2][4])
{
    const uint item = get_local_id(0);
    EACH(j, 2) EACH(k, 2) {
        const float bias = 2.0f * biases[item / WARP * 16 + 8 * j + item % 4 * 2 + k];
        EACH(i, BLOCK / 16) squares[i][j][k] = squares[i][j][2 + k] = bias;
    }
}

// squares += twice a word's pixels (BLOCK) times its weights, two halves of them
static inline void add_word(local const uint *bits, float (*low)[4], float (*high)[4], float (*squares)[2][4])
{
    const uint lane = get_local_id(0) % WARP, g = lane / 4, t = lane % 4;
    uint terms[2][2][2][WEIGHT_TERMS]; // of a chunk of the inner index, of 8 units, of its two parts
    EACH(c, 2) EACH(j, 2) EACH(r, 2) split(USED(low[j][2 * c + r]), USED(high[j][2 * c + r]), WEIGHT_TERMS, terms[c][j][r]);
    EACH(i, BLOCK / 16) {
        const uint one = rotate(bits[16 * i + g], 14u - t), other = rotate(bits[16 * i + g + 8], 14u - t);
        EACH(c, 2) {
            const uint seen[4] = {TWOS(one, 8 * c), TWOS(other, 8 * c), TWOS(one, 8 * c + 4), TWOS(other, 8 * c + 4)};
            EACH(term, WEIGHT_TERMS) EACH(j, 2) {
                const uint pair[2] = {terms[c][j][0][term], terms[c][j][1][term]};
                add_product(squares[i][j], seen, pair);
            }
        }
    }
}

// sums = half the squares
static inline void close_squares(float (*squares)[2][4], local float *sums)
{
    const uint item = get_local_id(0), lane = item % WARP, g = lane / 4, t = lane % 4, top = item / WARP * 16;
    EACH(i, BLOCK / 16) EACH(j, 2) EACH(r, 2)
        vstore2((float2)(0.5f * squares[i][j][2 * r], 0.5f * squares[i][j][2 * r + 1]), 0,
                sums + SUM_AT(16 * i + 8 * r + g, top + 8 * j + 2 * t));
}

// sums (BLOCK, UNITS) = pixels * weights + biases of the batch of a first step, as a pass after the step before would have them
static inline void open_pixels(global Picture *pictures, uint picture, global const float *hidden, local const float *biases,
                               local float *sums, uint step)
{
    float squares[BLOCK / 16][2][4], now[2][2][4], later[2][2][4];
    local uint *bits = (local uint *)sums; // as long as the sums are in registers
    uint words[FLAT_WORDS];
    EACH(part, 2) load_half(hidden, 2 * word_at(0, step + 1) + part, 0, later[part]);
    flatten(pictures, picture, words);
    spread_bits(words, bits);
    open_squares(biases, squares);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint turn = 0; turn < FLAT_WORDS; turn++) {
        EACH(part, 2) {
            EACH(j, 2) EACH(k, 4) now[part][j][k] = later[part][j][k];
            load_half(hidden, 2 * word_at(turn + 1, step + 1) + part, 0, later[part]);
        }
        add_word(bits + word_at(turn, step + 1) * BLOCK, now[0], now[1], squares);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    close_squares(squares, sums);
}

static inline void add_pixels(global Picture *pictures, uint picture, global const float *hidden, local const float *biases,
                              local float *sums)
{
}

// slopes (8 chunks of samples, 4 parts of a lane, terms) of the loss by a warp's sums
static inline void take_slopes(local const float *sums, uint (*slopes)[4][GRADIENT_TERMS])
{
    const uint item = get_local_id(0), lane = item % WARP, g = lane / 4, t = lane % 4, top = item / WARP * 16;
    EACH(c, BLOCK / 16) EACH(r, 4) {
        const uint sample = 8 * c + t + r / 2 * 4, unit = top + g + r % 2 * 8;
        split(sums[SUM_AT(sample, unit)], sums[SUM_AT(sample + BLOCK / 2, unit)], GRADIENT_TERMS, slopes[c][r]);
    }
}

// pairs (2 * FLAT_WORDS, BLOCK / 2): half words of samples s and s + 64, of words of a picture a work-item
static inline void spread_pairs(const uint *words, local uint *pairs)
{
    const uint item = get_local_id(0);
    local ushort *parts = (local ushort *)pairs;
    EACH(word, FLAT_WORDS) EACH(k, 2)
        parts[((2 * word + k) * (BLOCK / 2) + item % (BLOCK / 2)) * 2 + item / (BLOCK / 2)] = (ushort)(words[word] >> 16 * k);
}

// one step of the weights of a half of a word; now (3, 2 units, 4): weights and moments
static inline void learn_half(local const uint *pairs, uint (*slopes)[4][GRADIENT_TERMS], float4 rates, float (*now)[2][4])
{
    const uint lane = get_local_id(0) % WARP, g = lane / 4, t = lane % 4;
    const uint turn = 14 - (g / 2 + g % 2 * 4); // so that columns 2 * t and 2 * t + 1 of a product are pixels t and t + 4
    float squares[GRADIENT_TERMS][2][4];
    EACH(term, GRADIENT_TERMS) EACH(n, 2) EACH(k, 4) squares[term][n][k] = 0.0f;
    EACH(c, BLOCK / 16) {
        const uint one = rotate(pairs[8 * c + t], turn), other = rotate(pairs[8 * c + t + 4], turn);
        EACH(n, 2) {
            const uint seen[2] = {TWOS(one, 8 * n), TWOS(other, 8 * n)};
            EACH(term, GRADIENT_TERMS) {
                const uint parts[4] = {slopes[c][0][term], slopes[c][1][term], slopes[c][2][term], slopes[c][3][term]};
                add_product(squares[term][n], parts, seen);
            }
        }
    }
    EACH(j, 2) EACH(k, 4) {
        float gradient = squares[GRADIENT_TERMS - 1][k / 2][2 * j + k % 2];
        for (int term = GRADIENT_TERMS - 2; term >= 0; term--) // from the least on
            gradient += squares[term][k / 2][2 * j + k % 2];
        descend(&now[0][j][k], &now[1][j][k], &now[2][j][k], 0.5f * gradient, rates, HIDDEN_STEP, HIDDEN_LIMIT);
    }
}

// one step of the pixels' weights; sums: the loss's slopes by the sums, and later the sums of the next pictures
static inline void learn_pixels(global Picture *pictures, local const uint *picked, uint next_picture, global float *hidden,
                                local const float *biases, global const float *all_deltas, local float *sums,
                                local float *scratch, uint step, float4 rates)
{
    local uint *bits = (local uint *)sums, *pairs = bits + FLAT_WORDS * BLOCK; // as soon as the slopes are in registers
    uint words[FLAT_WORDS], next_words[FLAT_WORDS], slopes[BLOCK / 16][4][GRADIENT_TERMS];
    float squares[BLOCK / 16][2][4], now[2][3][2][4], later[3][2][4];
    flatten(pictures, picked[get_local_id(0)], words);
    flatten(pictures, next_picture, next_words);
    EACH(which, MOMENTS + 1) load_half(hidden, 2 * word_at(0, step), which, later[which]);
    EACH(turn, AHEAD) fetch_word(hidden, word_at(turn, step));
    take_slopes(sums, slopes);
    barrier(CLK_LOCAL_MEM_FENCE);
    spread_pairs(words, pairs);
    spread_bits(next_words, bits);
    open_squares(biases, squares);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint turn = 0; turn < FLAT_WORDS; turn++) {
        const uint word = word_at(turn, step), next = word_at(turn + 1, step);
#if AHEAD
        fetch_word(hidden, word_at(turn + AHEAD, step));
#endif
        EACH(part, 2) { // what comes next is on its way while this is multiplied
            const uint half_word = 2 * word + part;
            EACH(which, MOMENTS + 1) EACH(j, 2) EACH(k, 4) now[part][which][j][k] = later[which][j][k];
            EACH(which, MOMENTS + 1) load_half(hidden, part == 0 ? half_word + 1 : 2 * next, which, later[which]);
            if (DOES(3)) {
                learn_half(pairs + half_word * (BLOCK / 2), slopes, rates, now[part]);
                EACH(which, MOMENTS + 1) store_half(hidden, half_word, which, now[part][which]);
            }
        }
        if (DOES(0))
            add_word(bits + word * BLOCK, now[0][0], now[1][0], squares);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    close_squares(squares, sums);
}
