// optimiser - one step of Adam or of SGD with momentum on a weight, or on 16
//
// In         gradient: of the loss, a unit of the weight;  rates: (rate, second, decay, 0) of this step, from schedule.py
//            step: real value of one unit of the weight;  limit: greatest size of a weight
// In, out    weight, first, second: the weight and its moments
// Source     Kingma and Ba, Adam, arXiv:1412.6980; decay apart from the gradient: Loshchilov and Hutter, arXiv:1711.05101
//
// -D REAL: float or float16; ADAM, or SGD with MOMENTUM. The optimiser works in real numbers: a gradient a unit is step times the real gradient.

#define EPSILON 1e-7f

static inline void descend(REAL *weight, REAL *first, REAL *second, REAL gradient, float4 rates, float step,
                           float limit)
{
    REAL w = *weight;
    w -= rates.z * w;
#ifdef ADAM
    *first += 0.1f * (gradient - *first);
    *second += 0.001f * (gradient * gradient - *second);
    w -= (rates.x / step) * *first / (square_root(*second * rates.y) + EPSILON * step);
#else
    *first = MOMENTUM * *first + gradient;
    w -= (rates.x / (step * step)) * *first;
#endif
    w = w > limit ? (REAL)(limit) : w;
    *weight = w < -limit ? (REAL)(-limit) : w;
}
