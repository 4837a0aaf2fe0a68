// matrix_units - what population_matrix.cl takes from NVIDIA's GPUs through PTX
//
// Needs      compute capability 8.0
// Source     PTX ISA: mma.m16n8k16, cvt.rn.bf16x2.f32, prefetch.global.L2

// sums (16 x 8, 4 of them a lane) += a (16 x 16) * b (16 x 8): lane 4 * g + t holds rows g and g + 8 of a, at the inner indices
// 2 * t and 2 * t + 8 and the next, column g of b likewise, and of the sums rows g and g + 8 at columns 2 * t and 2 * t + 1
static inline void add_product(float *sums, const uint *a, const uint *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// a word of the numbers of bf16 nearest to two floats
static inline uint nearest_pair(float low, float high)
{
    uint pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// bring what lies at a place nearer, to be loaded later
static inline void fetch(global const float *place)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(place));
}
