// meet - a barrier of all groups of a launch, whole or in two halves
//
// All groups must run at once, which OpenCL does not promise. So nobody waits for ever: who has looked PATIENCE times gives up,
// says so in meeting[1], and from then on nobody waits; the launch ends soon, with wrong numbers that the host throws away.
//
// In, out    meeting: [0] how often a group has arrived, [1] whether somebody gave up; both 0 before a launch
//            arrivals: how often groups will have arrived, kept by the caller, 0 at first
// Sizes      PATIENCE;  NVIDIA: the device takes PTX

#ifdef NVIDIA
#define FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory") // OpenCL 1.2 has no fence between groups
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// what a group wrote before it arrives is seen by all groups that have waited; between the two it may do work of its own
static inline void meet_arrive(volatile global uint *meeting, uint *arrivals)
{
    *arrivals += get_num_groups(0);
    barrier(BOTH);
    if (get_local_id(0) == 0) {
        FENCE;
        atomic_inc(meeting);
    }
}

static inline void meet_wait(volatile global uint *meeting, uint arrivals)
{
    if (get_local_id(0) == 0) {
        uint looks = meeting[1] ? PATIENCE : 0;
        while (meeting[0] < arrivals && looks < PATIENCE)
            looks++;
        if (meeting[0] < arrivals)
            meeting[1] = 1;
        FENCE;
    }
    barrier(BOTH);
}

static inline void meet(volatile global uint *meeting, uint *arrivals)
{
    meet_arrive(meeting, arrivals);
    meet_wait(meeting, *arrivals);
}
