// batches - an epoch's batches, laid out as the fused nets read them: by samples and, transposed, by pixels
//
// A work-item takes a row of 32 pictures.
//
// In         pictures (n, ROWS): bit c = column c;  labels (n);  order (STEPS, BATCH): which pictures
// Out        samples (STEPS, ROWS, BATCH): a picture's row;  batch_labels (STEPS, BATCH)
//            masks (STEPS, TILES, PIXELS): bit s = the pixel is set in sample s of the tile
// Sizes      ROWS, COLS (at most 32) of the pictures; BATCH, a multiple of 32; STEPS of an epoch

#pragma OPENCL FP_CONTRACT ON

#define TILES (BATCH / 32)
#define PIXELS (ROWS * COLS)

kernel void batch_bits(global const uint *restrict pictures, global const uchar *restrict labels, global const uint *restrict order,
                       global uint *restrict samples, global uint *restrict masks, global uchar *restrict batch_labels)
{
    const uint row = get_global_id(0) % ROWS, tile = get_global_id(0) / ROWS;
    if (tile >= STEPS * TILES)
        return;
    uint bits[32];
    _Pragma("unroll") for (uint s = 0; s < 32; s++) {
        const uint picture = order[tile * 32 + s];
        bits[s] = pictures[picture * ROWS + row];
        if (row == 0)
            batch_labels[tile * 32 + s] = labels[picture];
        samples[(tile / TILES * ROWS + row) * BATCH + tile % TILES * 32 + s] = bits[s];
    }
    // transposition: blocks off the diagonal change places, 16 x 16 bits first
    _Pragma("unroll") for (uint level = 0; level < 5; level++) {
        const uint block = 16u >> level;
        const uint low = 0xFFFFFFFFu / ((1u << block) + 1u); // the lower half of each pair of blocks
        _Pragma("unroll") for (uint k = 0; k < 16; k++) {
            const uint at = (k & ~(block - 1)) * 2 + (k & (block - 1));
            const uint change = (bits[at] >> block ^ bits[at + block]) & low;
            bits[at + block] ^= change;
            bits[at] ^= change << block;
        }
    }
    _Pragma("unroll") for (uint c = 0; c < 32; c++)
        if (c < COLS)
            masks[tile * PIXELS + row * COLS + c] = bits[c];
}
