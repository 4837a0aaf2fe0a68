// try_meeting - a test whether a device can hold all groups of a launch: many rounds in which all tell each other numbers
//
// In         rounds
// In, out    meeting: [0] whether somebody did not come, [1] counts the numbers that a group should not have heard
// Scratch    numbers (2, groups), all 0 at first
// Sizes      exchange.cl; GROUP: the local size; LOCAL_FLOATS: as much local memory as the kernel that is to meet

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void try_meeting(volatile global uint *meeting, volatile global uint *numbers, uint rounds)
{
    local float held[LOCAL_FLOATS];
    const uint group = get_group_id(0), groups = get_num_groups(0), item = get_local_id(0);
    uint patience = meeting[0] ? 0 : PATIENCE;
    held[item] = item;
    for (uint round = 0; round < rounds; round++) {
        volatile global uint *places = numbers + round % 2 * groups;
        if (item == 0)
            tell(places + group, (float)(round * groups + group), round);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint other = item; other < groups; other += GROUP) {
            float number = 0.0f;
            hear(places + other, 1, round, &number, &patience);
            if (number != (float)(round * groups + other) || held[item] != (float)item)
                atomic_inc(meeting + 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (patience == 0)
        meeting[0] = 1;
}
