/* dropout - values that a step does without, drawn anew for each picture and step; the others are made so much greater
 *
 * Needs hash.cl before it, with words. Set by the host: BATCH, INPUTS (values of a sample), LEAST (words below it leave a value
 * out), SCALE (what the others are multiplied with).
 *
 * Gradients go the same way as values. order (steps, BATCH);  state[0] = step;  in, out (BATCH, INPUTS)
 */

__kernel void dropout(__global const float *in, __global const uint *order, __global const uint *state, __global float *out)
{
    uint i = get_global_id(0), sample = i / INPUTS;
    uint picture = hash_u32(order[state[0] * BATCH + sample] ^ hash_u32(state[0]));
    uint word = hash_u32(picture + i % INPUTS * 0x9E3779B9U);
    out[i] = word < LEAST ? 0.0f : in[i] * SCALE;
}
