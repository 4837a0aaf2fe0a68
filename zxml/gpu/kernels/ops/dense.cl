/* dense - weighted sums of (BATCH, INPUTS) to a few units, and their gradients
 *
 * Set by the host: BATCH, INPUTS, UNITS (at most 64, best a few), CHUNKS, QUANTISED, and where the parameters lie: WEIGHT
 * (INPUTS, UNITS), BIAS (UNITS).
 */

#define GROUP 64
#define VALUE(i) (QUANTISED ? rint(params[i]) : params[i])

/* One group a sample. */
__kernel void dense_forward(__global const float *in, __global const float *params, __global float *out)
{
    __local float parts[GROUP][UNITS];
    int sample = get_group_id(0), me = get_local_id(0);
    float sum[UNITS];
    for (int unit = 0; unit < UNITS; unit++)
        sum[unit] = 0.0f;
    for (int i = me; i < INPUTS; i += GROUP) {
        float value = in[sample * INPUTS + i];
        for (int unit = 0; unit < UNITS; unit++)
            sum[unit] += value * VALUE(WEIGHT + i * UNITS + unit);
    }
    for (int unit = 0; unit < UNITS; unit++)
        parts[me][unit] = sum[unit];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < UNITS) {
        float total = VALUE(BIAS + me);
        for (int part = 0; part < GROUP; part++)
            total += parts[part][me];
        out[sample * UNITS + me] = total;
    }
}

__kernel void dense_backward(__global const float *params, __global const float *out_grad, __global float *in_grad)
{
    int sample = get_global_id(0) / INPUTS, i = get_global_id(0) % INPUTS;
    float total = 0.0f;
    for (int unit = 0; unit < UNITS; unit++)
        total += out_grad[sample * UNITS + unit] * VALUE(WEIGHT + i * UNITS + unit);
    in_grad[get_global_id(0)] = total;
}

/* One work-item an input and a part of the batch: sums (CHUNKS, INPUTS, UNITS). */
__kernel void dense_weight_grad(__global const float *in, __global const float *out_grad, __global float *sums)
{
    int i = get_global_id(0), chunk = get_global_id(1);
    float sum[UNITS];
    for (int unit = 0; unit < UNITS; unit++)
        sum[unit] = 0.0f;
    for (int sample = chunk * BATCH / CHUNKS; sample < (chunk + 1) * BATCH / CHUNKS; sample++) {
        float value = in[sample * INPUTS + i];
        for (int unit = 0; unit < UNITS; unit++)
            sum[unit] += value * out_grad[sample * UNITS + unit];
    }
    for (int unit = 0; unit < UNITS; unit++)
        sums[(chunk * INPUTS + i) * UNITS + unit] = sum[unit];
}
