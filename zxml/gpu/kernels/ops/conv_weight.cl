/* conv_weight - a convolution's weights as its kernels want them: rounded if QUANTISED, and turned for the input's gradient
 *
 * Set by the host: CHANNELS, UNITS, WINDOW (side of the window), WEIGHT (where the parameters lie), QUANTISED.
 * weight (WINDOW, WINDOW, CHANNELS, UNITS);  turned (WINDOW, WINDOW, UNITS, CHANNELS), its places from the last to the first
 */

__kernel void conv_weight(__global const float *params, __global float *weight, __global float *turned)
{
    int i = get_global_id(0), place = i / (CHANNELS * UNITS), channel = i / UNITS % CHANNELS, unit = i % UNITS;
    float w = QUANTISED ? rint(params[WEIGHT + i]) : params[WEIGHT + i];
    weight[i] = w;
    turned[((WINDOW * WINDOW - 1 - place) * UNITS + unit) * CHANNELS + channel] = w;
}
