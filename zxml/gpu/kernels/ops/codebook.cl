/* codebook - the eight bits of a place as one of a few codes, and sums of learned rows, one for each code at each place
 *
 * Set by the host: BATCH, PLACES, CODES (without 0), UNITS, CHUNKS and PARTS (of a batch), GROUP, WIDTH (channels of the map),
 * and where the parameters lie: CHOICE (256, CODES), ROWS_AT (PLACES, CODES, UNITS), BIAS (UNITS).
 *
 * Byte b has code 1 + argmax of choice[b], byte 0 has code 0 and adds nothing. Gradients take the codes for softmax(2
 * choice[b]); a bit's is the difference that setting it makes, as if every byte were as likely as its softmax says. Channels of
 * the map past the eighth have none.
 *
 * packed (BATCH, PLACES) uint;  code (256) uchar;  chance (256, CODES);  codes (BATCH, PLACES) uchar
 * scores, score_grad (BATCH, UNITS);  map_grad (BATCH, PLACES, WIDTH)
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

/* One group of GROUP work-items a sample. */
__kernel void code_sum(__global const float *params, __global const uint *packed, __global const uchar *code,
                       __global uchar *codes, __global float *scores)
{
    __local float parts[GROUP][UNITS];
    int sample = get_group_id(0), me = get_local_id(0);
    float sum[UNITS];
    for (int unit = 0; unit < UNITS; unit++)
        sum[unit] = 0.0f;
    for (int place = me; place < PLACES; place += GROUP) {
        int k = code[packed[sample * PLACES + place] & 255];
        codes[sample * PLACES + place] = k;
        for (int unit = 0; unit < UNITS; unit++)
            sum[unit] += k ? rint(params[ROWS_AT + (place * CODES + k - 1) * UNITS + unit]) : 0.0f;
    }
    for (int unit = 0; unit < UNITS; unit++)
        parts[me][unit] = sum[unit];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < UNITS) {
        float total = rint(params[BIAS + me]);
        for (int part = 0; part < GROUP; part++)
            total += parts[part][me];
        scores[sample * UNITS + me] = total;
    }
}

/* One group a place and a part of the batch, one work-item a code and unit: parts (PARTS, PLACES, CODES, UNITS). */
__kernel void code_sum_grad(__global const uchar *codes, __global const float *score_grad, __global float *parts)
{
    int place = get_group_id(0), part = get_group_id(1), me = get_local_id(0);
    if (me < CODES * UNITS) {
        int k = me / UNITS + 1, unit = me % UNITS;
        float total = 0.0f;
        for (int sample = part * BATCH / PARTS; sample < (part + 1) * BATCH / PARTS; sample++)
            total += codes[sample * PLACES + place] == k ? score_grad[sample * UNITS + unit] : 0.0f;
        parts[(part * PLACES + place) * CODES * UNITS + me] = total;
    }
}

/* One group: some samples. Writes map_grad, and adds to sums (256, CODES) int, which codebook_table has cleared. */
__kernel void codebook_backward(__global const float *params, __global const uint *packed, __global const float *chance,
                                __global const float *score_grad, __global float *map_grad, __global int *sums)
{
    __local int table[BYTES * CODES];
    int chunk = get_group_id(0), me = get_local_id(0), size = get_local_size(0);
    for (int i = me; i < BYTES * CODES; i += size)
        table[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int first = chunk * BATCH / CHUNKS * PLACES, last = (chunk + 1) * BATCH / CHUNKS * PLACES;
    for (int at = first + me; at < last; at += size) {
        int place = at % PLACES, byte = packed[at] & 255;
        float grad[CODES];
        for (int k = 0; k < CODES; k++) {
            float total = 0.0f;
            for (int unit = 0; unit < UNITS; unit++)
                total += score_grad[at / PLACES * UNITS + unit] * rint(params[ROWS_AT + (place * CODES + k) * UNITS + unit]);
            grad[k] = total;
            if (byte)
                atomic_add(&table[byte * CODES + k], convert_int_rte(total * FIXED));
        }
        for (int j = 0; j < 8; j++) {
            __global const float *with = chance + (byte | 1 << j) * CODES, *without = chance + (byte & ~(1 << j)) * CODES;
            float total = 0.0f;
            for (int k = 0; k < CODES; k++)
                total += grad[k] * (with[k] - without[k]);
            map_grad[at * WIDTH + j] = total;
        }
        for (int j = 8; j < WIDTH; j++)
            map_grad[at * WIDTH + j] = 0.0f;
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
