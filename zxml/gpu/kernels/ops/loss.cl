/* loss - how far scores are from the labels, and the gradients of the scores, the bias and the temperature
 *
 * Set by the host: BATCH, UNITS, SQUARED (else softmax cross-entropy), SCALE (what a score is worth), and
 * where the parameters lie: BIAS (UNITS), TEMPERATURE (the logarithm of what scores are multiplied with; cross-entropy only).
 * Gradients are sums over the batch, not means.
 *
 * GROUP: work-items of a group of loss_sums
 *
 * labels (n) uchar;  order (steps, BATCH);  state[0] = step;  scores, score_grad (BATCH, UNITS);  parts (BATCH, 2)
 */

__kernel void loss(__global const float *scores, __global const uchar *labels, __global const uint *order,
                   __global const uint *state, __global const float *params, __global float *score_grad, __global float *parts)
{
    int sample = get_global_id(0), label = labels[order[state[0] * BATCH + sample]];
    __global const float *score = scores + sample * UNITS;
    float scale = SQUARED ? SCALE : SCALE * exp(params[TEMPERATURE]);
    float most = score[0], total = 0.0f, cost = 0.0f, warmth = 0.0f;
    for (int unit = 1; unit < UNITS; unit++)
        most = fmax(most, score[unit]);
    for (int unit = 0; unit < UNITS; unit++)
        total += exp((score[unit] - most) * scale);
    for (int unit = 0; unit < UNITS; unit++) {
        float wanted = unit == label, grad;
        if (SQUARED) {
            grad = score[unit] * scale - wanted;
            cost += 0.5f * grad * grad;
        } else {
            grad = exp((score[unit] - most) * scale) / total - wanted;
            cost -= wanted * ((score[unit] - most) * scale - log(total));
        }
        warmth += grad * scale * score[unit];
        score_grad[sample * UNITS + unit] = grad * scale;
    }
    parts[sample * 2] = cost;
    parts[sample * 2 + 1] = warmth;
}

/* One group of GROUP work-items a unit, for its bias, and one for the temperature and the loss, which is added to losses[0]. */
__kernel void loss_sums(__global const float *score_grad, __global const float *parts, __global float *grads,
                        __global float *losses)
{
    __local float sums[GROUP], costs[GROUP];
    int unit = get_group_id(0), me = get_local_id(0);
    float total = 0.0f, cost = 0.0f;
    for (int sample = me; sample < BATCH; sample += GROUP) {
        total += unit < UNITS ? score_grad[sample * UNITS + unit] : parts[sample * 2 + 1];
        cost += parts[sample * 2];
    }
    sums[me] = total;
    costs[me] = cost;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) {
        for (int i = 1; i < GROUP; i++) {
            total += sums[i];
            cost += costs[i];
        }
        if (unit < UNITS)
            grads[BIAS + unit] = total;
        else
            losses[0] += cost;
        if (unit == UNITS && !SQUARED)
            grads[TEMPERATURE] = total;
    }
}
