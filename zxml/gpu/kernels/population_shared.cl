// population_shared - what all files of the kernel population share: sizes, where things lie in local memory, a step of a weight
//
// Sums and their slopes lie in local memory (BLOCK, UNITS), and rows of classes (rows, 4 quads, 4), in fours that change places
// with others of their row, so that work-items side by side find theirs in different banks. Classes are dealt out to quads: each
// holds A_QUAD of them, and the rest of its four stays empty.
//
// Sizes      population.cl

#define GROUP 128
#define BLOCK 128 // samples
#define BLOCKS ((BATCH + BLOCK - 1) / BLOCK)
#define UNITS 64
#define A_QUAD ((CLASSES + 3) / 4)
#define QUADS ((CLASSES + A_QUAD - 1) / A_QUAD)
#define ROW_FLOATS 16
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define DOES(part) (!(LEAVE_OUT >> (part) & 1))
#define EACH(i, count) _Pragma("unroll") for (uint i = 0; i < (count); i++)
#ifdef ADAM
#define MOMENTS 2
#else
#define MOMENTS 1
#endif

#ifdef GREY
typedef const uchar Picture;
#define ROW_WORDS (COLS / 4)
#define PIXEL(row, c) ((float)((row)[(c) / 4] >> 8 * ((c) % 4) & 255u))
#else
typedef const uint Picture;
#define ROW_WORDS 1
#define PIXEL(row, c) ((float)((row)[0] >> (c) & 1u))
#endif

// the place of a four units' sums, of one sum, and of a quad of a row of classes; the class that a quad holds at k
#define FOUR_AT(sample, four) ((sample) * (UNITS / 4) + ((four) ^ (sample) % (UNITS / 4)))
#define SUM_AT(sample, unit) (FOUR_AT(sample, (unit) / 4) * 4 + (unit) % 4)
#define QUAD_AT(row, q) ((row) * 4 + ((q) ^ (row) / 4 % 4))
#define CLASS(q, k) ((q) * A_QUAD + (k))

// the 8 samples and the 8 units of a work-item's square are two fours each, so that fours lie side by side in local memory
#define SAMPLE(i) ((i) < 4 ? down * 4 + (i) : BLOCK / 2 + down * 4 + (i) - 4)
#define UNIT(j) ((j) < 4 ? across * 4 + (j) : UNITS / 2 + across * 4 + (j) - 4)

static inline void load_row(global Picture *pictures, uint picture, uint row, uint *words)
{
#ifdef GREY
    global const uint *place = (global const uint *)(pictures + picture * PIXELS + row * COLS);
#else
    global const uint *place = pictures + picture * ROWS + row;
#endif
    EACH(k, ROW_WORDS)
        words[k] = place[k];
}

static inline void load_four(local const float *floats, uint four, float *values)
{
    const float4 loaded = vload4(four, floats);
    values[0] = loaded.x;
    values[1] = loaded.y;
    values[2] = loaded.z;
    values[3] = loaded.w;
}

static inline void store_four(local float *floats, uint four, const float *values)
{
    vstore4((float4)(values[0], values[1], values[2], values[3]), four, floats);
}

// a weight and its moments of a table (rows, 3, apart)
static inline void load_weight(global const float *place, uint apart, float *held)
{
    EACH(which, MOMENTS + 1)
        held[which] = place[which * apart];
}

// one step of the optimiser on a weight that is held, and stored
static inline void descend_held(global float *place, uint apart, float *held, float gradient, float4 rates, float step, float limit)
{
    descend(held, held + 1, held + 2, gradient, rates, step, limit);
    EACH(which, MOMENTS + 1)
        place[which * apart] = held[which];
}
