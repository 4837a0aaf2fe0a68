// fused_groups - what the fused nets' kernels for GPUs share
//
// Sizes      GROUP: the local size; RATE, MOMENTUM

#pragma OPENCL FP_CONTRACT ON

#define MOST(a, b) ((a) > (b) ? (a) : (b))
#define EACH(i, count) _Pragma("unroll") for (uint i = 0; i < (count); i++)

// i = this work-item's share of so many; all work-items go round equally often
#define SPREAD(i, count) \
    for (uint i = get_local_id(0), i##_gone = 0; i##_gone < (count); i += GROUP, i##_gone += GROUP) \
        if (i < (count))

#define GROUPED kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))

static inline void descend_plain(global float *weight, global float *moment, float gradient)
{
    const float m = MOMENTUM * *moment + gradient;
    *moment = m;
    *weight -= RATE * m;
}
