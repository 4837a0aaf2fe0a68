// exchange - numbers that groups of a launch tell each other while it runs, without a barrier: who reads a word waits for it
//
// A word is a float whose lowest bit says which step it is of, so it needs no flag beside it and no fence. A word has two places,
// of even and of odd steps; a place's bit changes each time it is written. Buffers are all 0 before step 0. Who writes a place
// again must know that its readers are done, which they are two steps on if each step each group hears from all.
//
// All groups must run at once, which OpenCL does not promise. So nobody waits for ever: who has looked PATIENCE times in vain looks
// only once from then on; the launch ends soon, with wrong numbers that the host throws away.
//
// In, out    patience: looks at a word, kept by the caller; 0 = somebody did not come
// Sizes      PATIENCE
// Source     words that carry their own flag: protocol LL of NVIDIA's NCCL

#define BIT_OF(step) (~(step) >> 1 & 1u)

static inline void tell(volatile global uint *place, float value, uint step)
{
    *place = (as_uint(value) & ~1u) | BIT_OF(step);
}

// values (count) = the words (count), all of which it looks at each time
static inline void hear(volatile global const uint *places, uint count, uint step, float *values, uint *patience)
{
    uint missing = 1;
    for (uint looks = 0; missing && looks <= *patience; looks++) {
        missing = 0;
        _Pragma("unroll") for (uint k = 0; k < count; k++) {
            const uint word = places[k];
            missing |= (word ^ BIT_OF(step)) & 1u;
            values[k] = as_float(word & ~1u);
        }
    }
    *patience = missing ? 0 : *patience;
}

// values (4 * count) = the words (4 * count), which begin at a multiple of 16 bytes
static inline void hear_fours(volatile global const uint *places, uint count, uint step, float *values, uint *patience)
{
    uint missing = 1;
    for (uint looks = 0; missing && looks <= *patience; looks++) {
        missing = 0;
        _Pragma("unroll") for (uint k = 0; k < count; k++) {
            const uint4 word = ((volatile global const uint4 *)places)[k];
            missing |= ((word.x ^ BIT_OF(step)) | (word.y ^ BIT_OF(step)) | (word.z ^ BIT_OF(step)) | (word.w ^ BIT_OF(step))) & 1u;
            vstore4(as_float4(word & ~1u), k, values);
        }
    }
    *patience = missing ? 0 : *patience;
}
