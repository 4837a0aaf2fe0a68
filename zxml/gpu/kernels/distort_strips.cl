/* distort_strips - distorted pictures on a CPU, PICTURES a work-item; zxml/data/distort.py says what it computes
 *
 * Sixteen pixels at a time: the window's columns lie in strips of 16 lanes, and a step is a row of a strip. The columns that
 * are left, fewer than 16, are the last strip, of which a step takes as many rows as the lanes have room for.
 *
 * Needs distort_draws.cl before it, with vectors of 16. Set by the host: ROWS, COLS, TOP (the window); PICTURES; NUMBER, float
 * where that is exact, or else int; GATHERED, how many lanes may be looked up at once where the CPU can: 16, 8 or 1; and, from
 * distort.py, NODES, THICKNESSES.
 *
 * quads           (count, 29, 32)      classes of the four pixels around a place
 * ink             (THICKNESSES, 256)   by thickness and quad: a bit a place in eighths of a pixel
 * row_spline      (steps, NODES)       how much a node weighs at each lane's row, in 1/64: of a whole strip, then of the last
 * column_spline   (STRIPS, NODES)      and at each lane's column
 * halves          (STRIPS, 2)          each lane's column and row from the centre, in half pixels, at a strip's first step
 * key             the word from which the epoch's draws come
 * out             (count, ROWS)        a bit a pixel, bit 0 the leftmost
 *
 * Places are in 1/64 of the definition's unit until they are rounded: they are less than 1024 pixels away.
 */

#define WHOLE (COLS / 16)
#define REST (COLS % 16)
#define REST_ROWS (REST ? 16 / (REST + !REST) : 1)
#define STRIPS (WHOLE + (REST > 0))
#define STEPS(rows) ((ROWS + (rows) - 1) / (rows)) // of a strip with so many rows a step
#define ALL_STEPS (WHOLE * ROWS + (REST ? STEPS(REST_ROWS) : 0))
#define DRAWN ((8 + 2 * NODES * NODES + 15) / 16)
#define EACH(i, count) _Pragma("unroll") for (int i = 0; i < (count); i++)
#define NUMBERS JOIN(NUMBER, 16)

// PoCL leaves some of the library's conversions calls; compilers that are clang have them built in
#ifndef __has_builtin
#define __has_builtin(name) 0
#endif
#if __has_builtin(__builtin_convertvector)
#define CONVERT(vector, type) __builtin_convertvector(vector, type)
#else
#define CONVERT(vector, type) JOIN(convert_, type)(vector)
#endif
#if __has_builtin(__builtin_prefetch)
#define FETCH(at) __builtin_prefetch(at)
#else
#define FETCH(at)
#endif

/* gather_bytes: of each lane's byte and up to three after it;  test_bits = whether each lane's bit is set, lane 0 in bit 0 */
#if defined(__AVX512F__) && GATHERED >= 16

#define GATHER(from, at, size) __builtin_ia32_gathersiv16si((int16)(0), from, at, (ushort)0xFFFF, size)

static inline int16 gather_bytes(const uchar *bytes, int16 at)
{
    return GATHER(bytes, at, 1);
}

static inline ushort test_bits(const uint *words, int16 at, uint16 bit)
{
    const uint16 word = as_uint16(GATHER(words, at, 4)) >> bit & 1;
    return __builtin_ia32_cmpd512_mask(as_int16(word), (int16)(0), 4, (ushort)0xFFFF);
}

#elif defined(__AVX2__) && GATHERED >= 8

#define GATHER_8(from, at, size) __builtin_ia32_gatherd_d256((int8)(0), (const int *)(from), at, (int8)(-1), size)
#define GATHER(from, at, size) (int16)(GATHER_8(from, at.lo, size), GATHER_8(from, at.hi, size))

static inline int16 gather_bytes(const uchar *bytes, int16 at)
{
    return GATHER(bytes, at, 1);
}

static inline ushort test_bits(const uint *words, int16 at, uint16 bit)
{
    const float16 word = as_float16(as_uint16(GATHER(words, at, 4)) << (bit ^ 31)); /* the bit is the sign */
    return __builtin_ia32_movmskps256(word.lo) | __builtin_ia32_movmskps256(word.hi) << 8;
}

#else

static inline int16 gather_bytes(const uchar *bytes, int16 at)
{
    int16 gathered;
    EACH(lane, 16) ((int *)&gathered)[lane] = bytes[((const int *)&at)[lane]];
    return gathered;
}

static inline ushort test_bits(const uint *words, int16 at, uint16 bit)
{
    uint bits = 0;
    EACH(lane, 16) bits |= (words[((const int *)&at)[lane]] >> ((const uint *)&bit)[lane] & 1) << lane;
    return bits;
}

#endif

typedef __constant const NUMBERS *weights;

struct drawn {
    NUMBERS nodes[DRAWN]; /* from the ninth on the nodes' displacements, first all x and then all y, in 1/32768 pixel */
    struct map map;
    int level; /* of thickness */
};

static inline void draw_picture(uint index, uint key, int shift, int rotate, int scale, int shear, int warp, struct drawn *drawn)
{
    const uint16 iota = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const uint16 picture = hash_u32((uint16)(index ^ key));
    const uint16 words = hash_u32(picture + iota * 0x9E3779B9U);
    const int factor = words.s0 & 1 ? WEAK : 256;
    const int amplitude = ((int)(words.s7 >> 24) * warp) >> 8;
    drawn->map = draw_map(words, sum_bytes(words), factor, shift, rotate, scale, shear);
    drawn->level = ((((uniform_draw(words.s0) * factor) >> 8) + 32768) * THICKNESSES) >> 16;
    EACH(i, DRAWN) {
        const int16 sum = sum_bytes(hash_u32(picture + (iota + (uint)(16 * i)) * 0x9E3779B9U));
        drawn->nodes[i] = CONVERT(((((sum - 510) * amplitude) >> 8) * factor) >> 8, NUMBERS);
    }
}

/* = quad * 64 + place in eighths;  x, y = places in 1/64. There is no ink beyond the border, whichever side of it is looked at */
static inline int16 look_up_quads(uint16 x, uint16 y, const uchar *quads)
{
    const uint16 most = (29 << 21) - 1;
    const int16 column = as_int16((x < most ? x : most) >> 18), row = as_int16((y < most ? y : most) >> 18);
    const int16 quad = gather_bytes(quads, (row & ~7) << 2 | column >> 3) & 255;
    return quad << 6 | (column & 7) << 3 | (row & 7);
}

/* the first row where the nodes that weigh are the four from `node` on: nodes lie 27 / (NODES - 1) rows apart */
#define BORDER(node) LIMIT((27 * ((node) + 1) + NODES - 2) / (NODES - 1) - TOP, 0, ROWS)

/* the steps from begin to end - 1, in whose rows no nodes weigh but `taps` from `node` on */
#define RUN_STEPS(begin, end, node, taps)                                                                              \
    for (int s = begin; s < (end); s++) {                                                                              \
        NUMBERS x = 0, y = 0;                                                                                          \
        EACH(i, taps) {                                                                                                \
            x += across_x[node + i] * row_spline[s * NODES + node + i];                                                \
            y += across_y[node + i] * row_spline[s * NODES + node + i];                                                \
        }                                                                                                              \
        codes[s] = look_up_quads(as_uint16(flat_x + CONVERT(x, int16)), as_uint16(flat_y + CONVERT(y, int16)), quads); \
        flat_x += rows * map.xy << 7;                                                                                  \
        flat_y += rows * map.yy << 7;                                                                                  \
    }

/* codes[s] = what look_up_quads finds at a strip's step s, of so many rows */
static inline void run_strip(int rows, __constant const int16 *halves, weights column_spline, weights row_spline,
                             const struct drawn *drawn, const uchar *quads, int16 *codes)
{
    const NUMBER *nodes = (const NUMBER *)drawn->nodes + 8;
    const struct map map = drawn->map;
    NUMBERS across_x[NODES], across_y[NODES]; /* displacements with the columns interpolated */
    EACH(i, NODES) {
        NUMBERS x = 0, y = 0;
        EACH(j, NODES) {
            x += column_spline[j] * nodes[i * NODES + j];
            y += column_spline[j] * nodes[(NODES + i) * NODES + j];
        }
        across_x[i] = CONVERT(CONVERT(x, int16) >> 6, NUMBERS);
        across_y[i] = CONVERT(CONVERT(y, int16) >> 6, NUMBERS);
    }
    int16 flat_x = (map.start_x + halves[0] * map.xx + halves[1] * map.xy) << 6; /* places by the affine map alone */
    int16 flat_y = (map.start_y + halves[0] * map.yx + halves[1] * map.yy) << 6;
    if (rows > 1) {
        RUN_STEPS(0, STEPS(rows), 0, NODES)
    } else {
        RUN_STEPS(0, BORDER(1), 0, 4)
        RUN_STEPS(BORDER(1), BORDER(2), 1, 4)
        RUN_STEPS(BORDER(2), ROWS, 2, 4)
    }
}

__kernel void distort(__global const uchar *quads, __global const ulong *ink, weights row_spline, weights column_spline,
                      __constant const int16 *halves, uint key, uint count, int shift, int rotate, int scale, int shear, int warp,
                      __global uint *out)
{
    const uint first = get_global_id(0) * PICTURES;
    const uint pictures = count - first < PICTURES ? count - first : PICTURES;
    struct drawn drawn[PICTURES]; /* all at once, and below one loop for each look-up, so that delays overlap */
    for (uint i = 0; i < pictures; i++)
        draw_picture(first + i, key, shift, rotate, scale, shear, warp, drawn + i);
    for (uint i = 0; i < pictures; i++) {
        const uchar *quad = (const uchar *)(size_t)(quads + (size_t)(first + i) * (29 * 32));
        const uint *inked = (const uint *)(size_t)(ink + drawn[i].level * 256);
        EACH(line, 15) FETCH(quad + 29 * 32 + 64 * line); /* the next picture's */
        int16 codes[ALL_STEPS];
        for (int strip = 0; strip < WHOLE; strip++)
            run_strip(1, halves + 2 * strip, column_spline + strip * NODES, row_spline, drawn + i, quad, codes + strip * ROWS);
#if REST
        run_strip(REST_ROWS, halves + 2 * WHOLE, column_spline + WHOLE * NODES, row_spline + ROWS * NODES, drawn + i, quad,
                  codes + WHOLE * ROWS);
#endif
        ushort bits[ALL_STEPS];
        for (int s = 0; s < ALL_STEPS; s++)
            bits[s] = test_bits(inked, codes[s] >> 5, as_uint16(codes[s] & 31));
        for (int r = 0; r < ROWS; r++) {
            uint word = 0;
            for (int strip = 0; strip < WHOLE; strip++)
                word |= (uint)bits[strip * ROWS + r] << (16 * strip);
#if REST
            word |= (uint)(bits[WHOLE * ROWS + r / REST_ROWS] >> (r % REST_ROWS * REST) & ((1 << REST) - 1)) << (16 * WHOLE);
#endif
            out[(first + i) * ROWS + r] = word;
        }
    }
}
