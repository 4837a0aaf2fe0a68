// vectors - what the fused nets' kernels for CPUs share beside float16.cl: a step of the optimiser on 16 weights, softmax
//
// Units lie in blocks of 16 lanes, the last block filled up with lanes that stay 0. A row of weights is followed by a row of
// their momentum. Classes are one block: 16 at most.
//
// Sizes      CLASSES; BATCH; RATE, MOMENTUM

#define CLASS_NUMBER ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#define EACH(i, count) _Pragma("unroll") for (int i = 0; i < (count); i++)
#define POSITIVE(v) ((v) > 0.0f ? (v) : (float16)(0.0f))

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
