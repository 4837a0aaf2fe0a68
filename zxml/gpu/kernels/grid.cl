// grid - a barrier of all work-groups of a launch
//
// OpenCL does not promise that all groups run at once. Where they do not, a group gives up after PATIENCE looks and marks the
// launch as failed, so that it ends instead of hanging.
//
// In, out    meeting: [0] arrivals, [1] not 0 once a group gave up; both 0 at the launch
//            arrivals: groups that will have arrived so far, kept by the caller, 0 at first
// Sizes      PATIENCE: looks worth some seconds

#ifdef NVIDIA
#define DEVICE_FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define DEVICE_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// what the group wrote before is visible to all groups that have waited; between the two it may do work of its own
static inline void grid_arrive(volatile global uint *meeting, uint *arrivals)
{
    *arrivals += get_num_groups(0);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        DEVICE_FENCE;
        atomic_inc(meeting);
    }
}

static inline void grid_wait(volatile global uint *meeting, uint arrivals)
{
    if (get_local_id(0) == 0) {
        for (uint looks = 0; meeting[0] < arrivals && !meeting[1]; looks++)
            if (looks == PATIENCE)
                meeting[1] = 1;
        DEVICE_FENCE;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
