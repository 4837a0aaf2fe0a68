/* patch_conv - learned tables of 3 x 3 patterns, looked up at every place of one-bit pictures, and the greatest of 2 x 2 places
 *
 * Set by the host: BATCH, TOP, LEFT, ROWS, COLS (the places of the window), FILTERS (a multiple of 8), LEVELS (1 or 2;
 * FILTERS * LEVELS is at most 32), CHUNKS, SPARE (what a feature costs a level), and where the parameters lie: LINEAR (9, FILTERS), BIAS (FILTERS), FREE (512, FILTERS).
 *
 * A table entry is real, t = bias + the linear weights of the pattern's pixels + its free part; its feature is t > 0 or, of two
 * levels, floor(t) + 1 in 0..2, and pattern 0, a blank one, has none. Gradients go through the threshold where |t| < 1, and
 * through levels where they change; through the greatest of four to those that equal it, in equal shares. They are added up as integers, in any order, so the same inputs give the same bits.
 *
 * pictures (n, 28) uint, bit 0 leftmost;  order (steps, BATCH);  state[0] = step;  bits (512);  real (512, FILTERS)
 * packed (BATCH, PLACES) uint, the features of a pooled place;  map (BATCH, PLACES, FILTERS) the same as numbers
 *
 * Features are packed as thermometers: bit k * FILTERS + f is set where feature f is above k, so OR finds the greatest.
 */

#define PATTERNS 512
#define POOLED_ROWS ((ROWS + 1) / 2)
#define POOLED_COLS ((COLS + 1) / 2)
#define PLACES (POOLED_ROWS * POOLED_COLS)
#define LANES 8
#define FIXED 32768.0f
#define GROUP 64

__kernel void patch_table(__global const float *params, __global float *real, __global uint *bits, __global int *sums)
{
    int pattern = get_global_id(0);
    uint word = 0;
    for (int f = 0; f < FILTERS; f++) {
        float t = params[BIAS + f] + params[FREE + pattern * FILTERS + f];
        for (int k = 0; k < 9; k++)
            t += (pattern >> k & 1) ? params[LINEAR + k * FILTERS + f] : 0.0f;
        real[pattern * FILTERS + f] = t;
        sums[pattern * FILTERS + f] = 0;
        for (int k = 0; k < LEVELS; k++)
            word |= (uint)((k ? t >= k : t > 0.0f) && pattern > 0) << (k * FILTERS + f);
    }
    bits[pattern] = word;
}

/* the patterns of the places that pooled place (py, px) is made of; -1 where there is none */
inline int4 patterns_of(__global const uint *picture, int py, int px)
{
    int found[4];
    for (int i = 0; i < 4; i++) {
        int y = 2 * py + i / 2, x = 2 * px + i % 2;
        if (y < ROWS && x < COLS) {
            __global const uint *row = picture + TOP + y;
            int shift = LEFT + x;
            found[i] = (row[0] >> shift & 7) | (row[1] >> shift & 7) << 3 | (row[2] >> shift & 7) << 6;
        } else {
            found[i] = -1;
        }
    }
    return (int4)(found[0], found[1], found[2], found[3]);
}

inline uint features(__global const uint *bits, int pattern)
{
    return pattern < 0 ? 0 : bits[pattern];
}

/* the level of a feature in a word of them */
inline uint level_of(uint word, int f)
{
    uint level = word >> f & 1;
    for (int k = 1; k < LEVELS; k++)
        level += word >> (k * FILTERS + f) & 1;
    return level;
}

__kernel void patch_forward(__global const uint *pictures, __global const uint *order, __global const uint *state,
                            __global const uint *bits, __global uint *packed, __global float *map)
{
    int sample = get_global_id(0) / PLACES, place = get_global_id(0) % PLACES;
    __global const uint *picture = pictures + order[state[0] * BATCH + sample] * 28;
    int4 p = patterns_of(picture, place / POOLED_COLS, place % POOLED_COLS);
    uint word = features(bits, p.s0) | features(bits, p.s1) | features(bits, p.s2) | features(bits, p.s3);
    packed[get_global_id(0)] = word;
    for (int f = 0; f < FILTERS; f++)
        map[get_global_id(0) * FILTERS + f] = level_of(word, f);
}

/* One group: some samples and LANES filters. Adds to sums (512, FILTERS) int, which patch_table has cleared. */
__kernel void patch_backward(__global const uint *pictures, __global const uint *order, __global const uint *state,
                             __global const uint *bits, __global const uint *packed, __global const float *map_grad,
                             __global int *sums)
{
    __local int table[PATTERNS * LANES];
    int chunk = get_group_id(0), lanes = get_group_id(1) * LANES, me = get_local_id(0), size = get_local_size(0);
    for (int i = me; i < PATTERNS * LANES; i += size)
        table[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int first = chunk * BATCH / CHUNKS * PLACES, last = (chunk + 1) * BATCH / CHUNKS * PLACES;
    for (int at = first + me; at < last; at += size) {
        __global const uint *picture = pictures + order[state[0] * BATCH + at / PLACES] * 28;
        int4 p = patterns_of(picture, at % PLACES / POOLED_COLS, at % PLACES % POOLED_COLS);
        int pattern[4] = {p.s0, p.s1, p.s2, p.s3};
        for (int f = 0; f < LANES; f++) {
            uint on = level_of(packed[at], lanes + f);
            int equal = 0;
            for (int i = 0; i < 4; i++)
                equal += pattern[i] >= 0 && level_of(bits[max(pattern[i], 0)], lanes + f) == on;
            int share = convert_int_rte((map_grad[at * FILTERS + lanes + f] + SPARE) * FIXED / equal);
            for (int i = 0; i < 4; i++) {
                if (pattern[i] > 0 && level_of(bits[pattern[i]], lanes + f) == on)
                    atomic_add(&table[pattern[i] * LANES + f], share);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < PATTERNS * LANES; i += size) {
        if (table[i])
            atomic_add(&sums[i / LANES * FILTERS + lanes + i % LANES], table[i]);
    }
}

__kernel void patch_free_grad(__global const int *sums, __global const float *real, __global float *grads)
{
    int i = get_global_id(0);
    float slope = LEVELS == 1 ? (fabs(real[i]) < 1.0f ? 0.5f : 0.0f) : real[i] > -0.5f && real[i] < LEVELS - 0.5f;
    grads[FREE + i] = slope * sums[i] / FIXED;
}

/* One group of GROUP work-items a linear weight or bias. */
__kernel void patch_linear_grad(__global float *grads)
{
    __local float sums[GROUP];
    int k = get_group_id(0) / FILTERS, f = get_group_id(0) % FILTERS, me = get_local_id(0);  /* k = 9: the bias */
    float total = 0.0f;
    for (int pattern = me; pattern < PATTERNS; pattern += GROUP)
        total += pattern && (k == 9 || (pattern >> k & 1)) ? grads[FREE + pattern * FILTERS + f] : 0.0f;
    sums[me] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) {
        for (int i = 1; i < GROUP; i++)
            total += sums[i];
        grads[(k == 9 ? BIAS : LINEAR + k * FILTERS) + f] = total;
    }
}
