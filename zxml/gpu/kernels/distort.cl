/* distort - distorted pictures on a GPU, one work-item a picture; zxml/data/distort.py says what it computes
 *
 * Needs distort_draws.cl before it, with vectors of 8. Set by the host: ROWS, COLS, TOP, LEFT (the window) and, from
 * distort.py, NODES, THICKNESSES.
 *
 * quads           (count, 29, 32)      classes of the four pixels around a place
 * ink             (THICKNESSES, 256)   by thickness and quad: a bit a place in eighths of a pixel
 * row_spline      (ROWS, NODES)        how much a node weighs at a row of the window, in 1/64
 * column_spline   (NODES, OCTETS)      and at eight columns
 * key             the word from which the epoch's draws come
 * out             (count, ROWS)        a bit a pixel, bit 0 the leftmost
 */

#define OCTETS ((COLS + 7) / 8)

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
    const int factor = words.s0 & 1 ? WEAK : 256;
    const struct map map = draw_map(words, sum_bytes(words), factor, shift, rotate, scale, shear);

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
            x = (x >> 6) + column * map.xx + (map.start_x + row * map.xy);
            y = (y >> 6) + column * map.yx + (map.start_y + row * map.yy);
            x = LIMIT(x, (int8)0, (int8)((29 << 15) - 1));
            y = LIMIT(y, (int8)0, (int8)((29 << 15) - 1));
            places[octet] = (y >> 15) << 11 | (x >> 15) << 6 | (x >> 12 & 7) << 3 | (y >> 12 & 7);
        }
        const int *place = (const int *)places;
        uint word = 0;
        for (int c = 0; c < COLS; c++)
            word |= (uint)(inked[quad[place[c] >> 6]] >> (place[c] & 63) & 1) << c;
        out[index * ROWS + r] = word;
    }
}
