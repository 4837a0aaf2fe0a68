// population_shared - what all files of the kernel population share: sizes, rows of pictures, a step of a weight
//
// Sizes      population.cl

#define GROUP 128
#define BLOCK 128 // samples
#define BLOCKS ((BATCH + BLOCK - 1) / BLOCK)
#define UNITS 64
#define ROW_FLOATS ((CLASSES + 3) / 4 * 4)
#define HALF_CLASSES ((CLASSES + 1) / 2)
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#ifdef GREY
typedef const uchar Picture;
#define ROW_WORDS (COLS / 4)
#define PIXEL(row, c) ((float)((row)[(c) / 4] >> 8 * ((c) % 4) & 255u))
#else
typedef const uint Picture;
#define ROW_WORDS 1
#define PIXEL(row, c) ((float)((row)[0] >> (c) & 1u))
#endif

static inline void load_row(global Picture *pictures, uint picture, uint row, uint *words)
{
#ifdef GREY
    global const uint *place = (global const uint *)(pictures + picture * PIXELS + row * COLS);
#else
    global const uint *place = pictures + picture * ROWS + row;
#endif
    _Pragma("unroll") for (uint k = 0; k < ROW_WORDS; k++)
        words[k] = place[k];
}

// the 8 samples and the 8 units of a work-item's square are two fours each, so that fours lie side by side in local memory
#define SAMPLE(i) ((i) < 4 ? down * 4 + (i) : BLOCK / 2 + down * 4 + (i) - 4)
#define UNIT(j) ((j) < 4 ? across * 4 + (j) : UNITS / 2 + across * 4 + (j) - 4)

// one step of the optimiser on a weight of a table (rows, 3, apart)
static inline void descend_at(global float *place, uint apart, float gradient, float4 rates, float step, float limit)
{
    float weight = place[0], one = place[apart], two = place[2 * apart];
    descend(&weight, &one, &two, gradient, rates, step, limit);
    place[0] = weight;
    place[apart] = one;
    place[2 * apart] = two;
}
