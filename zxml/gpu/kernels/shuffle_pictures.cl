// shuffle_pictures - the order in which nets see their pictures in an epoch: a permutation without tables
//
// A work-item finds one place of one net. Six rounds of a Feistel network permute 0 .. 4**HALF_BITS - 1; a result that is no
// picture's number is permuted again until it is one.
//
// In         keys (models): the epoch's key of each net
// Out        order (models, PLACES): numbers of pictures, the first PLACES of a permutation of 0 .. PICTURES - 1
// Sizes      PICTURES, PLACES, MODELS; HALF_BITS: 4**HALF_BITS >= PICTURES
// Source     Luby and Rackoff, How to construct pseudorandom permutations, 1988;  cycle walking: Black and Rogaway, 2002

#define HALF_MASK ((1u << HALF_BITS) - 1)

static inline uint permute(uint number, uint key)
{
    uint left = number >> HALF_BITS, right = number & HALF_MASK;
    for (uint k = 0; k < 6; k++) {
        uint mixed = (right * 0x9E3779B1u) ^ (key + k * 0x85EBCA6Bu);
        mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6Du;
        mixed = (mixed ^ mixed >> 12) & HALF_MASK;
        const uint next = left ^ mixed;
        left = right;
        right = next;
    }
    return left << HALF_BITS | right;
}

kernel void shuffle_pictures(global const uint *restrict keys, global uint *restrict order)
{
    const uint item = get_global_id(0);
    if (item >= MODELS * PLACES)
        return;
    const uint key = keys[item / PLACES];
    uint number = permute(item % PLACES, key);
    while (number >= PICTURES)
        number = permute(number, key);
    order[item] = number;
}
