/* sums - partial sums added up in a fixed order
 *
 * Set by the host: PARTS, SIZE.
 */

__kernel void add_parts(__global const float *parts, __global float *out, int first)
{
    int i = get_global_id(0);
    float total = 0.0f;
    for (int part = 0; part < PARTS; part++)
        total += parts[part * SIZE + i];
    out[first + i] = total;
}
