// float16 - what every kernel on vectors of 16 numbers begins with: their sum, the greatest of them, the lowest set bit of a word

#pragma OPENCL FP_CONTRACT ON

// PoCL leaves the library's functions calls, which costs more than their work; compilers that are clang have them built in
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
