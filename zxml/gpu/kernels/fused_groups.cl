// fused_groups - what the fused nets' kernels for GPUs share
//
// Sizes      spread.cl; RATE, MOMENTUM

#pragma OPENCL FP_CONTRACT ON

static inline void descend_plain(global float *weight, global float *moment, float gradient)
{
    const float m = MOMENTUM * *moment + gradient;
    *moment = m;
    *weight -= RATE * m;
}
