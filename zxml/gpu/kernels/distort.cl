/* distort - distorted pictures, one work-item a picture; zxml/data/distort.py says what it computes
 *
 * Set by the host: ROWS, COLS, TOP, LEFT (the window) and, from distort.py, NODES, WEAK, THICKNESSES.
 *
 * quads           (count, 29, 32)      classes of the four pixels around a place
 * ink             (THICKNESSES, 256)   by thickness and quad: a bit a place in eighths of a pixel
 * row_spline      (ROWS, NODES)        how much a node weighs at a row of the window, in 1/64
 * column_spline   (NODES, OCTETS)      and at eight columns
 * key             the word from which the epoch's draws come
 * out             (count, ROWS)        a bit a pixel, bit 0 the leftmost
 *
 * Vectors of eight, and ?: for clamp(), because PoCL vectorises neither the loops nor the calls.
 */

#define OCTETS ((COLS + 7) / 8)
#define LIMIT(value, lowest, highest) ((value) < (lowest) ? (lowest) : (value) > (highest) ? (highest) : (value))

inline uint8 hash_u32(uint8 x)
{
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x = (x ^ (x >> 15)) * 0x846CA68BU;
    return x ^ (x >> 16);
}

inline int8 sum_bytes(uint8 x)
{
    x = (x & 0x00FF00FFU) + (x >> 8 & 0x00FF00FFU);
    return as_int8((x & 0xFFFFU) + (x >> 16));
}

inline int uniform_draw(uint word)
{
    return (int)(word >> 16) - 32768;
}

inline int normal_draw(int sum, int strength, int factor)
{
    return ((((sum - 510) * strength) >> 8) * factor) >> 8;
}

__kernel void distort(__global const uchar *quads, __global const ulong *ink, __constant int *row_spline,
                      __constant int8 *column_spline, uint key, uint count, int shift, int rotate, int scale, int shear,
                      int warp, __global uint *out)
{
    const uint index = get_global_id(0);
    if (index >= count)
        return;
    const uint8 iota = (uint8)(0, 1, 2, 3, 4, 5, 6, 7);
    const uint8 picture = hash_u32((uint8)(index ^ key));
    const uint8 words = hash_u32(picture + iota * 0x9E3779B9U);
    const int8 sums = sum_bytes(words);
    const int factor = words.s0 & 1 ? WEAK : 256;

    /* the affine map about the centre, from output to picture, in 1/16384; the start is one pixel on, for the quads' border */
    const int turn = normal_draw(sums.s3, rotate, factor);
    const int angle = LIMIT(turn, -16384, 16384);
    const int square = (angle * angle) >> 14;
    const int sine = angle - ((angle * (square / 6)) >> 14);
    const int cosine = 16384 - (square >> 1) + ((square * (square / 24)) >> 14);
    const int scale_x = 16384 + normal_draw(sums.s4, scale, factor);
    const int scale_y = 16384 + normal_draw(sums.s5, scale, factor);
    const int xx = (cosine * scale_x) >> 14;
    const int xy = normal_draw(sums.s6, shear, factor) - ((sine * scale_y) >> 14);
    const int yx = (sine * scale_x) >> 14;
    const int yy = (cosine * scale_y) >> 14;
    const int start_x = (29 << 14) + ((((uniform_draw(words.s1) * shift) >> 8) * factor) >> 8);
    const int start_y = (29 << 14) + ((((uniform_draw(words.s2) * shift) >> 8) * factor) >> 8);

    /* the nodes' displacements, first all x and then all y, in 1/32768 pixel */
    const int amplitude = ((int)(words.s7 >> 24) * warp) >> 8;
    int8 drawn[(2 * NODES * NODES + 7) / 8];
    for (int i = 0; i < (2 * NODES * NODES + 7) / 8; i++) {
        const int8 sum = sum_bytes(hash_u32(picture + (iota + (uint)(8 * (i + 1))) * 0x9E3779B9U));
        drawn[i] = ((((sum - 510) * amplitude) >> 8) * factor) >> 8;
    }
    const int *nodes = (const int *)drawn;

    /* the same with the columns already interpolated, and each pixel's place by the affine map in the first row */
    int8 across_x[NODES][OCTETS], across_y[NODES][OCTETS];
    for (int i = 0; i < NODES; i++)
        for (int octet = 0; octet < OCTETS; octet++) {
            int8 x = 0, y = 0;
            for (int j = 0; j < NODES; j++) {
                x += column_spline[j * OCTETS + octet] * nodes[i * NODES + j];
                y += column_spline[j * OCTETS + octet] * nodes[(NODES + i) * NODES + j];
            }
            across_x[i][octet] = x >> 6;
            across_y[i][octet] = y >> 6;
        }

    const int level = ((((uniform_draw(words.s0) * factor) >> 8) + 32768) * THICKNESSES) >> 16;
    __global const ulong *inked = ink + level * 256;
    __global const uchar *quad = quads + (size_t)index * (29 * 32);
    for (int r = 0; r < ROWS; r++) {
        const int row = 2 * (TOP + r) - 27; /* from the centre, in half pixels */
        int8 places[OCTETS];                /* quad's number * 64 + the place between its pixels */
        for (int octet = 0; octet < OCTETS; octet++) {
            const int8 column = as_int8(iota) * 2 + (2 * (LEFT + 8 * octet) - 27);
            int8 x = 0, y = 0;
            for (int i = 0; i < NODES; i++) {
                x += across_x[i][octet] * row_spline[r * NODES + i];
                y += across_y[i][octet] * row_spline[r * NODES + i];
            }
            x = (x >> 6) + column * xx + (start_x + row * xy);
            y = (y >> 6) + column * yx + (start_y + row * yy);
            x = LIMIT(x, (int8)0, (int8)((29 << 15) - 1));
            y = LIMIT(y, (int8)0, (int8)((29 << 15) - 1));
            places[octet] = (y >> 15) << 11 | (x >> 15) << 6 | (y >> 12 & 7) << 3 | (x >> 12 & 7);
        }
        const int *place = (const int *)places;
        uint word = 0;
        for (int c = 0; c < COLS; c++)
            word |= (uint)(inked[quad[place[c] >> 6]] >> (place[c] & 63) & 1) << c;
        out[index * ROWS + r] = word;
    }
}
