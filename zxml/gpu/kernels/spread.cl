// spread - how the kernels of a group's work-items go through what there is to do
//
// Sizes      GROUP: the local size;  ON_CPU: hide from the compiler that an item's number stays the same, as PoCL's draws tests
//            of it out of loops with barriers, to wrong results

#define MOST(a, b) ((a) > (b) ? (a) : (b))
#define EACH(i, count) _Pragma("unroll") for (uint i = 0; i < (count); i++)

#ifdef ON_CPU
static inline uint hidden_item(void)
{
    volatile uint item = get_local_id(0);
    return item;
}
#define ITEM hidden_item()
#else
#define ITEM ((uint)get_local_id(0))
#endif

// i = this work-item's share of so many; all work-items go round equally often
#define SPREAD(i, count) \
    for (uint i = ITEM, i##_gone = 0; i##_gone < (count); i += GROUP, i##_gone += GROUP) \
        if (i < (count))

#define GROUPED kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
