// meet - a barrier for all groups of a launch, and a test whether a device can hold it
//
// All groups must run at once, which OpenCL does not promise. So nobody waits for ever: who has looked PATIENCE times gives up,
// says so in meeting[1], and from then on nobody waits; the launch ends soon, with wrong numbers that the host throws away.
//
// In, out    meeting: [0] how often a group has arrived, 0 before a launch; [1] whether somebody gave up; [2] see try_meeting
// Sizes      GROUP: the local size;  PATIENCE;  NVIDIA: the device takes PTX

#ifdef NVIDIA
#define FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory") // OpenCL 1.2 has no fence between groups
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// one work-item of a group calls this between two barriers of the group: it arrives, and waits for `wanted` arrivals
static inline void meet(volatile global uint *meeting, uint wanted)
{
    FENCE;
    atomic_inc(meeting);
    uint looks = meeting[1] ? PATIENCE : 0;
    while (meeting[0] < wanted && looks < PATIENCE)
        looks++;
    if (meeting[0] < wanted)
        meeting[1] = 1;
    FENCE;
}

// Each group writes a number a round and, after the meeting, reads everybody's; meeting[2] counts those it should not have seen.
// numbers (2, groups); LOCAL_FLOATS: as much local memory as the kernel that is to meet
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void try_meeting(volatile global uint *meeting, global uint *numbers, uint rounds)
{
    local float held[LOCAL_FLOATS];
    const uint group = get_group_id(0), groups = get_num_groups(0), item = get_local_id(0);
    held[item] = item;
    for (uint round = 0; round < rounds; round++) {
        global uint *written = numbers + round % 2 * groups;
        if (item == 0)
            written[group] = round * groups + group;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (item == 0)
            meet(meeting, groups * (round + 1));
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint other = item; other < groups; other += GROUP)
            if (written[other] != round * groups + other || held[item] != item)
                atomic_inc(meeting + 2);
    }
}
