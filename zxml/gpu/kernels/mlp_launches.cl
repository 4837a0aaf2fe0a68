// mlp_launches - the kernels whose phases are in mlp_groups.cl: a launch a phase, or all steps in one
//
// In, out    mlp_groups.cl;  meeting: meet.cl;  start, steps: which steps to run
// Sizes      mlp_groups.cl, meet.cl

#define ARGUMENTS                                                                                                                 \
    global const uint *restrict samples, global const uint *restrict masks, global const uchar *restrict batch_labels,           \
        global float *first, global float *second, global float *third, global float *active_first, global float *active_second, \
        global uint *state

GROUPED void mlp_first(ARGUMENTS)
{
    local Memory memory;
    load_own(&memory, first);
    phase_first(&memory, state[0], samples, active_first);
}

GROUPED void mlp_second(ARGUMENTS)
{
    local Memory memory;
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        state[1] = state[0] + 1;
    phase_second(&memory, second, active_first, active_second);
}

// learn, then the next step's first; after the last step that reads one batch of samples past the epoch's, to no effect
GROUPED void mlp_learn(ARGUMENTS)
{
    local Memory memory;
    Own own;
    const uint next = state[1];
    load_own(&memory, first);
    SPREAD(s, BATCH)
        memory.active[s] = active_first[get_group_id(0) * BATCH + s];
    barrier(CLK_LOCAL_MEM_FENCE);
    prepare_learn(&memory, &own, next - 1, masks, first, second, third);
    phase_learn(&memory, &own, next - 1, batch_labels, first, second, third, active_second);
    phase_first(&memory, next, samples, active_first);
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        state[0] = next;
}

// so many steps in one launch of FIRST groups, all of them resident
GROUPED void mlp_persistent(ARGUMENTS, volatile global uint *meeting, uint start, uint steps)
{
    local Memory memory;
    Own own;
    uint arrivals = 0;
    load_own(&memory, first);
    for (uint step = start; step < start + steps; step++) {
        phase_first(&memory, step, samples, active_first);
        meet(meeting, &arrivals);
        phase_second(&memory, second, active_first, active_second);
        meet_arrive(meeting, &arrivals);
        prepare_learn(&memory, &own, step, masks, first, second, third);
        meet_wait(meeting, arrivals);
        phase_learn(&memory, &own, step, batch_labels, first, second, third, active_second);
    }
}
