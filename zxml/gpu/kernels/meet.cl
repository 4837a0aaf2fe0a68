// meet - a barrier of all groups of a launch, whole or in two halves
//
// All groups must run at once, which OpenCL does not promise. So nobody waits for ever: who has looked PATIENCE times gives up,
// says so in meeting[1], and from then on nobody waits; the launch ends soon, with wrong numbers that the host throws away.
//
// In, out    meeting: [0] how often a group has arrived, [1] whether somebody gave up; both 0 before a launch
//            arrivals: how often groups will have arrived, kept by the caller, 0 at first
// Sizes      PATIENCE;  NVIDIA: the device takes PTX

#define BOTH (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#ifdef NVIDIA // OpenCL 1.2 has no fence between groups

static inline void count_arrival(volatile global uint *meeting)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(meeting) : "memory");
}

static inline uint see_arrivals(volatile global uint *meeting)
{
    uint seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(meeting) : "memory");
    return seen;
}

#else

static inline void count_arrival(volatile global uint *meeting)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_inc(meeting);
}

static inline uint see_arrivals(volatile global uint *meeting)
{
    const uint seen = meeting[0];
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    return seen;
}

#endif

// what a group wrote before it arrives is seen by all groups that have waited; between the two it may do work of its own
static inline void meet_arrive(volatile global uint *meeting, uint *arrivals)
{
    *arrivals += get_num_groups(0);
    barrier(BOTH);
    if (get_local_id(0) == 0)
        count_arrival(meeting);
}

static inline void meet_wait(volatile global uint *meeting, uint arrivals)
{
    if (get_local_id(0) == 0) {
        uint looks = 0;
        while (see_arrivals(meeting) < arrivals && looks < PATIENCE) {
            looks++;
            if (looks % 1024 == 0 && meeting[1]) // seldom, since each look takes as long as the first
                looks = PATIENCE;
        }
        if (looks == PATIENCE)
            meeting[1] = 1;
    }
    barrier(BOTH);
}

static inline void meet(volatile global uint *meeting, uint *arrivals)
{
    meet_arrive(meeting, arrivals);
    meet_wait(meeting, *arrivals);
}
