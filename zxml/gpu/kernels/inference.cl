// inference - one kernel a kind of layer of the integer model; zxml/ir/layers.py says what each means
//
// A work-item finds one value. All values are int; maps are (rows, cols, channels), channels innermost; a picture is 28 x 28.
// Sums are made in uint, which wraps, and then cut to `bits`, 8 or 16.
//
// In         in (n, ...): what the layer takes;  count: how many values are put out;  then the layer's tables and sizes
// Out        out (n, ...)

#define SIDE 28
#define WINDOW 3

#define START                                                                                                              \
    const uint item = get_global_id(0);                                                                                    \
    if (item >= count)                                                                                                     \
        return;

static inline int wrap(uint sum, uint bits)
{
    return (int)(sum << (32 - bits)) >> (32 - bits);
}

kernel void patch_sum(global const int *in, global int *out, uint count, global const int *table, global const int *bias, uint top,
                      uint left, uint patches_down, uint patches_across, uint patch_rows, uint patch_cols, uint units, uint bits)
{
    START
    const uint unit = item % units, patterns = 1u << patch_rows * patch_cols;
    global const int *picture = in + item / units * SIDE * SIDE + top * SIDE + left;
    uint sum = bias[unit];
    for (uint patch = 0; patch < patches_down * patches_across; patch++) {
        const uint y = patch / patches_across * patch_rows, x = patch % patches_across * patch_cols;
        uint pattern = 0;
        for (uint k = 0; k < patch_rows * patch_cols; k++)
            pattern |= picture[(y + k / patch_cols) * SIDE + x + k % patch_cols] << k;
        sum += table[(patch * patterns + pattern) * units + unit];
    }
    out[item] = wrap(sum, bits);
}

kernel void patch_conv(global const int *in, global int *out, uint count, global const int *table, uint top, uint left, uint rows,
                       uint cols, uint filters)
{
    START
    const uint place = item / filters, x = place % cols, y = place / cols % rows;
    global const int *picture = in + place / cols / rows * SIDE * SIDE + (top + y) * SIDE + left + x;
    uint pattern = 0;
    for (uint k = 0; k < WINDOW * WINDOW; k++)
        pattern |= picture[k / WINDOW * SIDE + k % WINDOW] << k;
    out[item] = table[pattern * filters + item % filters];
}

kernel void pool(global const int *in, global int *out, uint count, uint in_rows, uint in_cols, uint channels)
{
    START
    const uint rows = (in_rows + 1) / 2, cols = (in_cols + 1) / 2;
    const uint place = item / channels, x = place % cols * 2, y = place / cols % rows * 2;
    global const int *map = in + place / cols / rows * in_rows * in_cols * channels + item % channels;
    const uint right = min(x + 1, in_cols - 1), below = min(y + 1, in_rows - 1);
    out[item] = max(max(map[(y * in_cols + x) * channels], map[(y * in_cols + right) * channels]),
                    max(map[(below * in_cols + x) * channels], map[(below * in_cols + right) * channels]));
}

kernel void codebook(global const int *in, global int *out, uint count, global const int *code, uint channels)
{
    START
    uint pattern = 0;
    for (uint c = 0; c < channels; c++)
        pattern += in[item * channels + c] << c;
    out[item] = code[pattern];
}

kernel void code_sum(global const int *in, global int *out, uint count, global const int *table, global const int *bias,
                     uint places, uint codes, uint units, uint bits)
{
    START
    const uint unit = item % units;
    uint sum = bias[unit];
    for (uint place = 0; place < places; place++)
        sum += table[(place * codes + in[item / units * places + place]) * units + unit];
    out[item] = wrap(sum, bits);
}

kernel void conv(global const int *in, global int *out, uint count, global const int *weight, global const int *bias, uint in_rows,
                 uint in_cols, uint channels, uint units, uint stride, uint bits)
{
    START
    const uint rows = (in_rows - WINDOW) / stride + 1, cols = (in_cols - WINDOW) / stride + 1;
    const uint unit = item % units, place = item / units, x = place % cols * stride, y = place / cols % rows * stride;
    global const int *map = in + ((place / cols / rows * in_rows + y) * in_cols + x) * channels;
    uint sum = bias[unit];
    for (uint k = 0; k < WINDOW * WINDOW; k++)
        for (uint c = 0; c < channels; c++)
            sum += weight[(k * channels + c) * units + unit] * map[(k / WINDOW * in_cols + k % WINDOW) * channels + c];
    out[item] = wrap(sum, bits);
}

kernel void dense(global const int *in, global int *out, uint count, global const int *weight, global const int *bias, uint inputs,
                  uint units, uint bits)
{
    START
    const uint unit = item % units;
    uint sum = bias[unit];
    for (uint i = 0; i < inputs; i++)
        sum += weight[i * units + unit] * in[item / units * inputs + i];
    out[item] = wrap(sum, bits);
}

kernel void requant(global const int *in, global int *out, uint count, uint shift, int levels)
{
    START
    out[item] = clamp((in[item] >> shift) + 1, 0, levels);
}

kernel void steps(global const int *in, global int *out, uint count, global const int *thresholds, uint levels, uint units)
{
    START
    int level = 0;
    for (uint k = 0; k < levels; k++)
        level += in[item] >= thresholds[k * units + item % units];
    out[item] = level;
}

kernel void leave(global const int *in, global int *out, uint count, uint classes, int gap)
{
    START
    int most = INT_MIN, second = INT_MIN;
    for (uint c = 0; c < classes; c++) {
        const int score = in[item * classes + c];
        second = max(second, min(score, most));
        most = max(most, score);
    }
    out[item] = most - second >= gap;
}

kernel void move(global const int *in, global int *out, uint count, int down, int right)
{
    START
    const int x = (int)(item % SIDE) - right, y = (int)(item / SIDE % SIDE) - down;
    const bool inside = x >= 0 && x < SIDE && y >= 0 && y < SIDE;
    out[item] = inside ? in[(int)item - down * SIDE - right] : 0;
}

kernel void add(global const int *in, global int *out, uint count, global const int *more)
{
    START
    out[item] = in[item] + more[item];
}

kernel void arg_max(global const int *in, global int *out, uint count, uint classes)
{
    START
    int most = in[item * classes], index = 0;
    for (uint c = 1; c < classes; c++) {
        const int score = in[item * classes + c];
        index = score > most ? (int)c : index;
        most = max(most, score);
    }
    out[item] = index;
}
