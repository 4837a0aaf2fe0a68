/* hash - well mixed words, as zxml/data/distort.py makes them
 *
 * Set by the host: UINTS, the words or vectors of them that the kernels after it work in.
 */

static inline UINTS hash_u32(UINTS x)
{
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x = (x ^ (x >> 15)) * 0x846CA68BU;
    return x ^ (x >> 16);
}
