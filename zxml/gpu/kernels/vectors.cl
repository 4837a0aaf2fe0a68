// vectors - what the fused nets' kernels for CPUs share: vectors of 16 units, a step of the optimiser, softmax
//
// Units lie in blocks of 16 lanes, the last block filled up with lanes that stay 0. A row of weights is followed by a row of
// their momentum. Classes are one block: 16 at most.
//
// Sizes      CLASSES; BATCH; RATE, MOMENTUM

#pragma OPENCL FP_CONTRACT ON

#define CLASS_NUMBER ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#define EACH(i, count) _Pragma("unroll") for (int i = 0; i < (count); i++)
#define POSITIVE(v) ((v) > 0.0f ? (v) : (float16)(0.0f))

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif
#if __has_builtin(__builtin_ctzl)
#define LOWEST_BIT(word) __builtin_ctzl(word)
#else
#define LOWEST_BIT(word) (63 - (int)clz((word) & -(word)))
#endif

static inline float sum_lanes(float16 v)
{
    float8 a = v.lo + v.hi;
    float4 b = a.lo + a.hi;
    float2 c = b.lo + b.hi;
    return c.x + c.y;
}

static inline float max_lane(float16 v)
{
    float8 a = v.lo > v.hi ? v.lo : v.hi;
    float4 b = a.lo > a.hi ? a.lo : a.hi;
    float2 c = b.lo > b.hi ? b.lo : b.hi;
    return c.x > c.y ? c.x : c.y;
}

static inline void descend_vector(global float16 *weight, global float16 *moment, float16 gradient)
{
    const float16 m = MOMENTUM * *moment + gradient;
    *moment = m;
    *weight -= RATE * m;
}

// the cross-entropy's slope by a sample's scores, its part of the batch
static inline float16 softmax_slope(float16 scores, uint label)
{
    scores = CLASS_NUMBER < CLASSES ? scores : (float16)(-1e30f);
    scores = exp(scores - max_lane(scores));
    const float16 wanted = CLASS_NUMBER == (int16)(label) ? (float16)(1.0f) : (float16)(0.0f);
    return (scores / sum_lanes(scores) - wanted) * (1.0f / BATCH);
}
