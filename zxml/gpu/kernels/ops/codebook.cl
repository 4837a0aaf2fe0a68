/* codebook - the eight bits of a place as one of a few codes, and a map of what codes there are: one channel a code, 0 or 1
 *
 * Set by the host: BATCH, PLACES, CODES (without 0), CHUNKS (of a batch), WIDTH (channels of the features' map), and CHOICE
 * (256, CODES), where the parameters lie.
 *
 * Byte b has code 1 + argmax of choice[b], byte 0 has code 0 and no channel. Gradients take the codes for softmax(2 * choice[b]);
 * a bit's is the difference that setting it makes, as if every byte were as likely as its softmax says. Channels of the features'
 * map past the eighth have none.
 *
 * packed (BATCH, PLACES) uint;  code (256) uchar;  chance (256, CODES)
 * map, map_grad (BATCH, PLACES, CODES);  bits_grad (BATCH, PLACES, WIDTH)
 */

#define BYTES 256
#define FIXED 32768.0f

__kernel void codebook_table(__global const float *params, __global uchar *code, __global float *chance, __global int *sums)
{
    int byte = get_global_id(0);
    __global const float *choice = params + CHOICE + byte * CODES;
    int best = 0;
    for (int k = 1; k < CODES; k++)
        best = choice[k] > choice[best] ? k : best;
    float total = 0.0f;
    for (int k = 0; k < CODES; k++)
        total += exp(2.0f * (choice[k] - choice[best]));
    for (int k = 0; k < CODES; k++)
        sums[byte * CODES + k] = 0;
    for (int k = 0; k < CODES; k++)
        chance[byte * CODES + k] = byte ? exp(2.0f * (choice[k] - choice[best])) / total : 0.0f;
    code[byte] = byte ? best + 1 : 0;
}

/* One work-item a place of a sample. */
__kernel void code_map(__global const uint *packed, __global const uchar *code, __global float *map)
{
    int at = get_global_id(0), k = code[packed[at] & 255];
    for (int j = 0; j < CODES; j++)
        map[at * CODES + j] = j + 1 == k ? 1.0f : 0.0f;
}

/* One group: some samples. Writes bits_grad, and adds to sums (256, CODES), which codebook_table has cleared. */
__kernel void codebook_backward(__global const uint *packed, __global const float *chance, __global const float *map_grad,
                                __global float *bits_grad, __global int *sums)
{
    __local int table[BYTES * CODES];
    int chunk = get_group_id(0), me = get_local_id(0), size = get_local_size(0);
    for (int i = me; i < BYTES * CODES; i += size)
        table[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int first = chunk * BATCH / CHUNKS * PLACES, last = (chunk + 1) * BATCH / CHUNKS * PLACES;
    for (int at = first + me; at < last; at += size) {
        int byte = packed[at] & 255;
        float grad[CODES];
        for (int k = 0; k < CODES; k++) {
            grad[k] = map_grad[at * CODES + k];
            if (byte)
                atomic_add(&table[byte * CODES + k], convert_int_rte(grad[k] * FIXED));
        }
        for (int j = 0; j < 8; j++) {
            __global const float *with = chance + (byte | 1 << j) * CODES, *without = chance + (byte & ~(1 << j)) * CODES;
            float total = 0.0f;
            for (int k = 0; k < CODES; k++)
                total += grad[k] * (with[k] - without[k]);
            bits_grad[at * WIDTH + j] = total;
        }
        for (int j = 8; j < WIDTH; j++)
            bits_grad[at * WIDTH + j] = 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = me; i < BYTES * CODES; i += size) {
        if (table[i])
            atomic_add(&sums[i], table[i]);
    }
}

__kernel void codebook_grad(__global const int *sums, __global const float *chance, __global float *grads)
{
    int byte = get_global_id(0);
    float grad[CODES], mean = 0.0f;
    for (int k = 0; k < CODES; k++) {
        grad[k] = sums[byte * CODES + k] / FIXED;
        mean += grad[k] * chance[byte * CODES + k];
    }
    for (int k = 0; k < CODES; k++)
        grads[CHOICE + byte * CODES + k] = 2.0f * chance[byte * CODES + k] * (grad[k] - mean);
}
