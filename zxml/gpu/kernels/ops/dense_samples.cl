/* dense_samples - dense.cl's way forward and back to what came in for CPUs: a work-item takes a sample, and skips zeros
 *
 * Set by the host: as for dense.cl.
 *
 * turned (UNITS, INPUTS), the weights as used
 */

#define VALUE(i) (QUANTISED ? rint(params[i]) : params[i])

__kernel void dense_forward(__global const float *in, __global const float *params, __global float *out)
{
    int sample = get_global_id(0);
    float sum[UNITS];
    for (int unit = 0; unit < UNITS; unit++)
        sum[unit] = VALUE(BIAS + unit);
    for (int i = 0; i < INPUTS; i++) {
        float value = in[sample * INPUTS + i];
        if (value != 0.0f)
            for (int unit = 0; unit < UNITS; unit++)
                sum[unit] += value * VALUE(WEIGHT + i * UNITS + unit);
    }
    for (int unit = 0; unit < UNITS; unit++)
        out[sample * UNITS + unit] = sum[unit];
}

__kernel void dense_turn(__global const float *params, __global float *turned)
{
    int unit = get_global_id(0);
    for (int i = 0; i < INPUTS; i++)
        turned[unit * INPUTS + i] = VALUE(WEIGHT + i * UNITS + unit);
}

__kernel void dense_backward(__global const float *restrict turned, __global const float *restrict out_grad,
                             __global float *restrict in_grad)
{
    __global float *sum = in_grad + get_global_id(0) * INPUTS;
    for (int i = 0; i < INPUTS; i++)
        sum[i] = 0.0f;
    for (int unit = 0; unit < UNITS; unit++) {
        float value = out_grad[get_global_id(0) * UNITS + unit];
        for (int i = 0; i < INPUTS; i++)
            sum[i] += value * turned[unit * INPUTS + i];
    }
}
