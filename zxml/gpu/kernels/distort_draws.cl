/* distort_draws - what both kernels that distort pictures begin with: draws from hashes, the affine map
 *
 * Needs hash.cl before it. Set by the host: UINTS and INTS, the vectors that the kernel works in; WEAK, from zxml/data/distort.py.
 */

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define LIMIT(value, lowest, highest) ((value) < (lowest) ? (lowest) : (value) > (highest) ? (highest) : (value))

static inline INTS sum_bytes(UINTS x)
{
    x = (x & 0x00FF00FFU) + (x >> 8 & 0x00FF00FFU);
    return JOIN(as_, INTS)((x & 0xFFFFU) + (x >> 16));
}

static inline int uniform_draw(uint word)
{
    return (int)(word >> 16) - 32768;
}

static inline int normal_draw(int sum, int strength, int factor)
{
    return ((((sum - 510) * strength) >> 8) * factor) >> 8;
}

/* place = start + xx * column + xy * row, all from the centre: column and row in half pixels, xx to yy in 1/16384 */
struct map {
    int xx, xy, yx, yy, start_x, start_y;
};

/* words, sums = a picture's first draws and their sums of bytes; starts are one pixel on, for the quads' border */
static inline struct map draw_map(UINTS words, INTS sums, int factor, int shift, int rotate, int scale, int shear)
{
    const int turn = normal_draw(sums.s3, rotate, factor);
    const int angle = LIMIT(turn, -16384, 16384);
    const int square = (angle * angle) >> 14;
    const int sine = angle - ((angle * (square / 6)) >> 14);
    const int cosine = 16384 - (square >> 1) + ((square * (square / 24)) >> 14);
    const int scale_x = 16384 + normal_draw(sums.s4, scale, factor);
    const int scale_y = 16384 + normal_draw(sums.s5, scale, factor);
    struct map map;
    map.xx = (cosine * scale_x) >> 14;
    map.xy = normal_draw(sums.s6, shear, factor) - ((sine * scale_y) >> 14);
    map.yx = (sine * scale_x) >> 14;
    map.yy = (cosine * scale_y) >> 14;
    map.start_x = (29 << 14) + ((((uniform_draw(words.s1) * shift) >> 8) * factor) >> 8);
    map.start_y = (29 << 14) + ((((uniform_draw(words.s2) * shift) >> 8) * factor) >> 8);
    return map;
}
