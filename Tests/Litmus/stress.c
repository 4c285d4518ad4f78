#define _GNU_SOURCE
#include "trial.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CANARY = 0x600DCE11, CELL_WORDS = 16 };

typedef struct cell {
    uint64_t words[CELL_WORDS];
} cell;

typedef struct stress {
    bp_slot *slot;
    bool is_leased;
    int is_over;
} stress;

typedef struct caller {
    stress *run;
    pthread_t thread;
    uint64_t calls, violations;
    uint8_t padding[128];
} caller;

static const void **new_cells(void) {
    const void **cells = malloc(sizeof *cells);
    cell *one = malloc(sizeof *one);
    for (int i = 0; i < CELL_WORDS; i++) one->words[i] = CANARY;
    cells[0] = one;
    return cells;
}

/* Whoever still uses them reads nonsense. Without leases somebody does, and then the memory is left where it is. */
static void give_up(const void **cells, bool is_leased) {
    cell *one = (cell *)cells[0];
    memset(one, 0x5A, sizeof *one);
    if (!is_leased) return;
    free(one);
    free(cells);
}

static bool is_sound(const cell *one) {
    uint64_t sum = 0;
    for (int i = 0; i < CELL_WORDS; i++) sum |= __atomic_load_n(&one->words[i], __ATOMIC_RELAXED) ^ CANARY;
    return sum == 0;
}

static void *call(void *context) {
    caller *self = context;
    stress *run = self->run;
    for (; !__atomic_load_n(&run->is_over, __ATOMIC_RELAXED); self->calls++) {
        bp_binding *binding = run->is_leased ? bp_enter(run->slot) : __atomic_load_n(&run->slot->binding, __ATOMIC_ACQUIRE);
        const cell *one = bp_cell(binding, 0);
        bool was_sound = is_sound(one);
        if (self->calls % 1024 == 0) sched_yield();     /* now and then a call is interrupted, and may end on another processor */
        if (!was_sound || !is_sound(one)) self->violations++;
        if (run->is_leased) bp_leave(binding);
    }
    return NULL;
}

outcome run_stress(trial trial) {
    static const bp_gate gate;
    stress run = {.slot = bp_slot_new(0, &gate), .is_leased = trial.is_leased};
    const void **cells[2] = {new_cells(), NULL};
    bp_binding *bindings[2] = {new_binding(cells[0], trial), new_binding(NULL, trial)};
    bp_flip(run.slot, bindings[0]);
    int count = processor_count() + 1;
    caller *callers = calloc((size_t)count, sizeof *callers);
    for (int i = 0; i < count; i++) {
        callers[i].run = &run;
        pthread_create(&callers[i].thread, NULL, call, &callers[i]);
    }

    outcome outcome = {0};
    for (double end = seconds_now() + trial.seconds; seconds_now() < end; outcome.flips++) {
        int old = (int)(outcome.flips & 1);
        bindings[1 - old]->cells = cells[1 - old] = new_cells();
        bp_flip(run.slot, bindings[1 - old]);
        if (trial.has_barrier) bp_barrier();
        while (trial.is_leased && bp_in_flight(bindings[old]) != 0) sched_yield();
        give_up(cells[old], trial.is_leased);
    }
    __atomic_store_n(&run.is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++) {
        pthread_join(callers[i].thread, NULL);
        outcome.calls += callers[i].calls;
        outcome.violations += callers[i].violations;
    }
    free(callers);
    return outcome;
}
