// lanes - what every training kernel of the nets with a hidden layer shares: the sizes of blocks and tiles, rounding, a root
//
// Units lie in blocks of 16 lanes, a float16 each, the last block filled up with lanes that stay 0. There are two shapes of the
// kernels. tile_*.cl, for CPUs: a work-item takes a tile of the batch or of the weights, in vectors of 16, without local
// memory or barriers. group_*.cl, for GPUs: a work-group takes a sample or a row of weights, a work-item a lane.
//
// Needs float16.cl before it.
//
// Sizes (-D): PIXELS, ROWS, COLS of the window; HIDDEN units in HIDDEN_BLOCKS; CLASSES in CLASS_BLOCKS; BATCH, a multiple of 32;
// REAL: float or, with TILES_OF_16, float16; SUM and SUM16: short, or int where a hidden sum may need more than 16 bits.
// FLOAT_NET: a plain net of real numbers instead: SUM is float, nothing is rounded, a level is max(sum, 0), there is no range
// penalty and no temperature. GREY: pixels are bytes that count as value / 255; the words of bits then tell which are not 0.

#define TILE 32 // samples a mask word holds
#define TILES (BATCH / TILE)
#define HIDDEN_LANES (16 * HIDDEN_BLOCKS)
#define CLASS_LANES (16 * CLASS_BLOCKS)
#define EACH_HIDDEN_BLOCK _Pragma("unroll") for (int v = 0; v < HIDDEN_BLOCKS; v++)
#define EACH_CLASS_BLOCK _Pragma("unroll") for (int v = 0; v < CLASS_BLOCKS; v++)

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define SUM16 JOIN(SUM, 16)
#define AS_SUM16 JOIN(convert_, SUM16)

// nearest integer, ties to even, for |x| < 2**22: adding 1.5 * 2**23 leaves no bit for the fraction
#define ROUND(x) (((x) + 12582912.0f) - 12582912.0f)
#ifdef FLOAT_NET
#define USED(weight) (weight)
#else
#define USED(weight) ROUND(weight)
#endif
#define GREY_STEP (1.0f / 255.0f)

static inline REAL square_root(REAL v)
{
#if __has_builtin(__builtin_sqrtf) && defined(TILES_OF_16)
    float16 root;
    _Pragma("unroll") for (int i = 0; i < 16; i++)
        ((float *)&root)[i] = __builtin_sqrtf(((float *)&v)[i]);
    return root;
#else
    return sqrt(v);
#endif
}
