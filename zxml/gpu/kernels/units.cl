// units - what one hidden unit computes of its sum in the kernels for GPUs, and the loss's slope back through it
//
// Sizes      SHIFT, LEVELS of the requantisation; HALF_RANGE = 2**(sum_bits - 1); SAFE_PART, RANGE_PENALTY; BATCH; or FLOAT_NET

#define AT_ONCE 8 // loads that a work-item has under way

// the level of a sum, and (the loss's slope by the sum, the penalty for its size) from the slope by the level

#ifdef FLOAT_NET

#define SUM_REAL float
#define LEVEL(sum) ((sum) > 0.0f ? (sum) : 0.0f)

static inline float2 delta_of(float sum, float slope)
{
    return (float2)(sum > 0.0f ? slope : 0.0f, 0.0f);
}

#else

#define SUM_REAL int
#define LEVEL(sum) clamp(((int)(sum) >> SHIFT) + 1, 0, LEVELS)

static inline float2 delta_of(float sum, float slope)
{
    const float level = sum * (1.0f / (1 << SHIFT));
    float over = (fabs(sum) - SAFE_PART * HALF_RANGE) * (1.0f / HALF_RANGE);
    over = over > 0.0f ? over : 0.0f;
    float push = over > 0.0f ? (1.0f + 2.0f * over) * (RANGE_PENALTY / HALF_RANGE / BATCH) : 0.0f;
    push = sum < 0.0f ? -push : push;
    const float delta = ((level > -0.5f && level < LEVELS - 0.5f) ? slope * (1.0f / (1 << SHIFT)) : 0.0f) + push;
    return (float2)(delta, RANGE_PENALTY * (over + over * over));
}

#endif
