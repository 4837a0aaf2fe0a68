/* pixels - the window of one-bit pictures as a map of zeros and ones
 *
 * Set by the host: BATCH, TOP, LEFT, ROWS, COLS (of the window).
 *
 * pictures (n, 28) uint, bit 0 leftmost;  order (steps, BATCH);  state[0] = step;  map (BATCH, ROWS, COLS)
 */

__kernel void pixels(__global const uint *pictures, __global const uint *order, __global const uint *state, __global float *map)
{
    int at = get_global_id(0), x = at % COLS, y = at / COLS % ROWS, sample = at / COLS / ROWS;
    map[at] = pictures[order[state[0] * BATCH + sample] * 28 + TOP + y] >> (LEFT + x) & 1;
}
