// try_meeting - a test whether a device can hold all groups of a launch: many rounds of meetings and of telling each other numbers
//
// Each group writes a number a round and, after the meeting, reads everybody's.
//
// In         rounds
// In, out    meeting: as in meet.cl, and [2] counts the numbers that a group should not have seen
// Scratch    numbers (2, groups)
// Sizes      meet.cl; GROUP: the local size; LOCAL_FLOATS: as much local memory as the kernel that is to meet

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void try_meeting(volatile global uint *meeting, global uint *numbers, uint rounds)
{
    local float held[LOCAL_FLOATS];
    const uint group = get_group_id(0), groups = get_num_groups(0), item = get_local_id(0);
    uint arrivals = 0;
    held[item] = item;
    for (uint round = 0; round < rounds; round++) {
        global uint *written = numbers + round % 2 * groups;
        if (item == 0)
            written[group] = round * groups + group;
        meet(meeting, &arrivals);
        for (uint other = item; other < groups; other += GROUP)
            if (written[other] != round * groups + other || held[item] != item)
                atomic_inc(meeting + 2);
    }
}
