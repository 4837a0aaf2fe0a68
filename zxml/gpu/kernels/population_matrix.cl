// population_matrix - the two large matrix products of population.cl on the matrix units of NVIDIA's GPUs, through PTX
//
// Pixels are bits, exact as bf16. The other factor is a float, which is the sum of TERMS numbers of bf16 exactly: its first eight
// bits, the next and the rest. So products are exact, and sums are kept in float32. A warp takes 16 units: it holds sums of 128
// samples forward, and the slopes of 128 samples in the gradient, so that no two work-items need the same weight.
//
// The hidden layer's weights lie as they are read, and so that a warp reads and writes without gaps: (FLAT_WORDS, 4 warps, 3:
// weight and two moments, 2 units, 2 halves of a word, 32 lanes, 4 pixels), then (3, UNITS) biases. Lane 4 * g + t of warp w has
// units 16 * w + g and 16 * w + g + 8 and pixels t + 4 * k of a word; weights of pixels beyond the picture stay 0.
//
// A word of two bf16 is made of two bits that lie 16 apart: ((word >> k) & 0x10001) * 0x3F80 is 1.0 where they are set. The inner
// index of a product may be in any order, so pixels k and k + 16 of a word are neighbours forward, and samples s and s + 64 in the
// gradient.
//
// Sizes      population.cl, of which BATCH <= BLOCK; not GREY
// Source     PTX ISA, mma.m16n8k16, for what lies where: lane 4 * g + t holds rows g and g + 8, inner indices 2 * t and 2 * t + 8

#define WARP 32
#define FLAT_WORDS ((PIXELS + 31) / 32) // of a picture without gaps between its rows
#define HALVES ((PIXELS + 15) / 16)
#define HELD (2 * 2 * WARP * 4) // floats of a kind that a warp holds of a word
#define BIASES (FLAT_WORDS * 4 * 3 * HELD)
#define NET_FLOATS (BIASES + 3 * UNITS)
#define TERMS 3
#ifdef FLOAT_NET
#define WEIGHT_TERMS TERMS
#else
#define WEIGHT_TERMS ((int)HIDDEN_LIMIT <= 256 ? 1 : TERMS) // integers of 8 bits need but one
#endif
#ifdef ADAM
#define MOMENTS 2
#else
#define MOMENTS 1
#endif
#define EACH(i, count) _Pragma("unroll") for (uint i = 0; i < (count); i++)
#define ONES(word, k) (((word) >> (k) & 0x10001u) * 0x3F80u)

// sums (16 x 8, 4 of them a lane) += a (16 x 16) * b (16 x 8)
static inline void add_product(float *sums, const uint *a, const uint *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// the next term of two floats as a word, which is taken off them
static inline uint next_term(float *low, float *high)
{
    const uint one = as_uint(*low) & 0xFFFF0000u, other = as_uint(*high) & 0xFFFF0000u;
    *low -= as_float(one);
    *high -= as_float(other);
    return one >> 16 | other;
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

// sums (BLOCK, UNITS) = pixels * weights + biases
static inline void add_pixels(global Picture *pictures, uint picture, global const float *hidden, local float *sums)
{
    const uint item = get_local_id(0), lane = item % WARP, g = lane / 4, t = lane % 4, top = item / WARP * 16;
    local uint *bits = (local uint *)sums; // (FLAT_WORDS, BLOCK), as long as the sums are in registers
    float squares[BLOCK / 16][2][4], loaded[2][2][4];
    uint words[FLAT_WORDS];
    EACH(i, BLOCK / 16) EACH(j, 2) EACH(k, 4) squares[i][j][k] = 0.0f;
    EACH(part, 2) load_half(hidden, part, 0, loaded[part]);
    flatten(pictures, picture, words);
    EACH(word, FLAT_WORDS) bits[word * BLOCK + item] = words[word];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint word = 0; word < FLAT_WORDS; word++) {
        uint terms[WEIGHT_TERMS][2][2][2]; // of a chunk of the inner index, of 8 units
        EACH(c, 2) EACH(j, 2) EACH(r, 2) {
            float low = USED(loaded[0][j][2 * c + r]), high = USED(loaded[1][j][2 * c + r]);
            EACH(term, WEIGHT_TERMS) terms[term][c][j][r] = next_term(&low, &high);
        }
        EACH(part, 2) load_half(hidden, 2 * min(word + 1, FLAT_WORDS - 1u) + part, 0, loaded[part]);
        EACH(i, BLOCK / 16) {
            const uint one = bits[word * BLOCK + 16 * i + g] >> t, other = bits[word * BLOCK + 16 * i + g + 8] >> t;
            EACH(c, 2) {
                const uint seen[4] = {ONES(one, 8 * c), ONES(other, 8 * c), ONES(one, 8 * c + 4), ONES(other, 8 * c + 4)};
                EACH(term, WEIGHT_TERMS) EACH(j, 2) add_product(squares[i][j], seen, terms[term][c][j]);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH(j, 2) EACH(k, 2) {
        const uint unit = top + 8 * j + 2 * t + k;
        const float bias = USED(hidden[BIASES + unit]);
        EACH(i, BLOCK / 16) EACH(r, 2)
            sums[(16 * i + 8 * r + g) * UNITS + unit] = squares[i][j][2 * r + k] + bias;
    }
}

// one step of the pixels' weights; sums: the loss's slopes by the sums
static inline void learn_pixels(global Picture *pictures, local const uint *picked, global float *hidden,
                                global const float *all_deltas, local float *sums, local float *scratch, float4 rates)
{
    const uint item = get_local_id(0), lane = item % WARP, g = lane / 4, t = lane % 4, top = item / WARP * 16;
    local ushort *bits = (local ushort *)sums; // (2 * FLAT_WORDS, BLOCK / 2, 2), as soon as the slopes are in registers
    uint words[FLAT_WORDS], slopes[TERMS][BLOCK / 16][4];
    flatten(pictures, picked[item], words);
    EACH(c, BLOCK / 16) EACH(r, 4) {
        const uint sample = 8 * c + t + r / 2 * 4, unit = top + g + r % 2 * 8;
        float low = sums[sample * UNITS + unit], high = sums[(sample + BLOCK / 2) * UNITS + unit];
        EACH(term, TERMS) slopes[term][c][r] = next_term(&low, &high);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH(word, FLAT_WORDS) EACH(k, 2)
        bits[((2 * word + k) * (BLOCK / 2) + item % (BLOCK / 2)) * 2 + item / (BLOCK / 2)] = (ushort)(words[word] >> 16 * k);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint shift = g / 2 + g % 2 * 4; // so that columns 2 * t and 2 * t + 1 of a product are pixels t and t + 4
    for (uint half_word = 0; half_word < HALVES; half_word++) {
        local const uint *pairs = (local const uint *)bits + half_word * (BLOCK / 2);
        float squares[TERMS][2][4], now[3][2][4];
        EACH(which, MOMENTS + 1) load_half(hidden, half_word, which, now[which]);
        EACH(term, TERMS) EACH(n, 2) EACH(k, 4) squares[term][n][k] = 0.0f;
        EACH(c, BLOCK / 16) {
            const uint one = pairs[8 * c + t] >> shift, other = pairs[8 * c + t + 4] >> shift;
            EACH(n, 2) {
                const uint seen[2] = {ONES(one, 8 * n), ONES(other, 8 * n)};
                EACH(term, TERMS) add_product(squares[term][n], slopes[term][c], seen);
            }
        }
        EACH(j, 2) EACH(k, 4) {
            const uint n = k / 2, r = 2 * j + k % 2;
            const float gradient = squares[0][n][r] + (squares[1][n][r] + squares[2][n][r]);
            descend(&now[0][j][k], &now[1][j][k], &now[2][j][k], gradient, rates, HIDDEN_STEP, HIDDEN_LIMIT);
        }
        EACH(which, MOMENTS + 1) store_half(hidden, half_word, which, now[which]);
    }
}
