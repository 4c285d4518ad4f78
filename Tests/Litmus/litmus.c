#define _GNU_SOURCE
#include "trial.h"

#include <pthread.h>
#include <sched.h>

/* Store buffers are what this is about, and each processor has its own. */
static void stay_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

typedef struct litmus {
    bp_slot *slot;
    bp_binding *bindings[2];
    int dead[2];            /* the flipper saw it drained */
    int is_over;
    uint64_t calls, violations;
} litmus;

static void *call(void *context) {
    litmus *run = context;
    stay_on(processor_at(1));
    while (!__atomic_load_n(&run->is_over, __ATOMIC_RELAXED)) {
        bp_binding *binding = bp_enter(run->slot);
        int number = binding == run->bindings[1];
        run->violations += (uint64_t)__atomic_load_n(&run->dead[number], __ATOMIC_RELAXED);
        for (volatile int work = 0; work < 3; work++) {}
        run->violations += (uint64_t)__atomic_load_n(&run->dead[number], __ATOMIC_RELAXED);
        bp_leave(binding);
        run->calls++;
    }
    return NULL;
}

outcome run_litmus(trial trial) {
    static const bp_gate gate;
    static const void *const cells[1];
    litmus run = {.slot = bp_slot_new(0, &gate)};
    for (int i = 0; i < 2; i++) run.bindings[i] = new_binding(cells, trial);
    bp_flip(run.slot, run.bindings[0]);
    pthread_t caller;
    pthread_create(&caller, NULL, call, &run);
    stay_on(processor_at(0));

    uint64_t flips = 0;
    for (double end = seconds_now() + trial.seconds; seconds_now() < end;) {
        for (int round = 0; round < 1000; round++, flips++) {
            int old = (int)(flips & 1);
            __atomic_store_n(&run.dead[1 - old], 0, __ATOMIC_SEQ_CST);
            bp_flip(run.slot, run.bindings[1 - old]);
            if (trial.has_barrier) bp_barrier();
            while (bp_in_flight(run.bindings[old]) != 0) {}
            __atomic_store_n(&run.dead[old], 1, __ATOMIC_SEQ_CST);
            /* Not always at the same moment of a call. */
            for (volatile uint64_t pause = flips & 63; pause > 0; pause--) {}
        }
    }
    __atomic_store_n(&run.is_over, 1, __ATOMIC_RELAXED);
    pthread_join(caller, NULL);
    return (outcome){.flips = flips, .calls = run.calls, .violations = run.violations};
}
