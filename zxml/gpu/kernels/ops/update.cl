/* update - a step of the optimiser over all parameters: SGD with momentum, or Adam; both with decoupled weight decay
 *
 * Set by the host: ADAM, MOMENTUM (of SGD), BATCH, MEMORY.
 * grads: sums over the batch;  rates (steps, 4) as zxml/gpu/schedule.py makes them;  state[0] = step
 * step: what one unit of a parameter is worth in real numbers;  limit: its greatest size
 * decays: 1 for parameters that weight decay draws to 0, 0 for others
 * average: the parameters' running average, of which each step adds a part of MEMORY
 */

__kernel void update(__global const float *grads, __global const float *step, __global const float *limit,
                     __global const float *decays, __global const float *rates, __global const uint *state,
                     __global float *params, __global float *first,
                     __global float *second, __global float *average)
{
    int i = get_global_id(0);
    __global const float *rate = rates + state[0] * 4;
    float grad = grads[i] / BATCH / step[i], change;
    if (ADAM) {
        first[i] = 0.9f * first[i] + 0.1f * grad;
        second[i] = 0.999f * second[i] + 0.001f * grad * grad;
        change = first[i] / (sqrt(second[i] * rate[1]) + 1e-7f);
    } else {
        first[i] = MOMENTUM * first[i] + grad;
        change = first[i];
    }
    float value = params[i] - rate[0] * change / step[i] - rate[2] * decays[i] * params[i];
    params[i] = value > limit[i] ? limit[i] : value < -limit[i] ? -limit[i] : value;
    average[i] += (params[i] - average[i]) * MEMORY;
}

__kernel void next_step(__global uint *state)
{
    state[0] += 1;
}
