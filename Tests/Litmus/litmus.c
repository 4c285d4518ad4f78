/*
 * litmus PROGRAM SECONDS [atomics] [no-barrier] [no-lease] [one-stripe]
 *
 * Tries the leases of lease.h by `litmus` or `stress`, for a few flips at least, and prints how many flips, calls and
 * violations there were, or why it cannot run here.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lease.h"

typedef struct trial {
    bool restartable;       /* plain adds in restartable sequences; otherwise atomics */
    bool has_barrier;       /* a flip is followed by bp_barrier */
    bool is_leased;         /* calls count themselves in and out */
    bool has_one_stripe;    /* as where all processors but one have numbers beyond the stripes: these count by atomics */
    double seconds;
} trial;

typedef struct outcome {
    uint64_t flips, calls;
    uint64_t violations;    /* calls that saw a binding or a cell after it was given up */
} outcome;

static cpu_set_t usable;

/* Processors this process may use, and the number of the one at an index. */
static int processor_count(void) { return CPU_COUNT(&usable); }

static int processor_at(int index) {
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &usable) && index-- == 0) return processor;
    abort();
}

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bp_binding *new_binding(const void *const *cells, trial trial) {
    bp_binding *binding = bp_binding_new(cells, trial.restartable);
    if (trial.has_one_stripe) binding->last_stripe = 0;
    return binding;
}

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

static void *call_litmus(void *context) {
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

/* One caller and one flipper, each on a processor of its own: is a binding ever in a caller's hands after it drained? */
static outcome run_litmus(trial trial) {
    static const bp_gate gate;
    static const void *const cells[1];
    litmus run = {.slot = bp_slot_new(0, &gate)};
    for (int i = 0; i < 2; i++) run.bindings[i] = new_binding(cells, trial);
    bp_flip(run.slot, run.bindings[0]);
    pthread_t caller;
    pthread_create(&caller, NULL, call_litmus, &run);
    stay_on(processor_at(0));

    uint64_t flips = 0;
    double end = seconds_now() + trial.seconds;
    do {
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
    } while (seconds_now() < end);
    __atomic_store_n(&run.is_over, 1, __ATOMIC_RELAXED);
    pthread_join(caller, NULL);
    return (outcome){.flips = flips, .calls = run.calls, .violations = run.violations};
}

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

static void *call_stress(void *context) {
    caller *self = context;
    stress *run = self->run;
    for (; !__atomic_load_n(&run->is_over, __ATOMIC_RELAXED); self->calls++) {
        bp_binding *binding = run->is_leased ? bp_enter(run->slot) : __atomic_load_n(&run->slot->binding, __ATOMIC_ACQUIRE);
        const cell *one = bp_cell(binding, 0);
        bool was_sound = is_sound(one);
        /* Now and then a call is interrupted, and may end on another processor. */
        if (self->calls % 1024 == 0) sched_yield();
        if (!was_sound || !is_sound(one)) self->violations++;
        if (run->is_leased) bp_leave(binding);
    }
    return NULL;
}

/* More callers than processors, and a flipper that overwrites and frees the cells of every binding that has drained. */
static outcome run_stress(trial trial) {
    static const bp_gate gate;
    stress run = {.slot = bp_slot_new(0, &gate), .is_leased = trial.is_leased};
    const void **cells[2] = {new_cells(), NULL};
    bp_binding *bindings[2] = {new_binding(cells[0], trial), new_binding(NULL, trial)};
    bp_flip(run.slot, bindings[0]);
    int count = processor_count() + 1;
    caller *callers = calloc((size_t)count, sizeof *callers);
    for (int i = 0; i < count; i++) {
        callers[i].run = &run;
        pthread_create(&callers[i].thread, NULL, call_stress, &callers[i]);
    }

    outcome outcome = {0};
    for (double end = seconds_now() + trial.seconds; outcome.flips < 100 || seconds_now() < end; outcome.flips++) {
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

static bool has(int count, char **arguments, const char *option) {
    for (int i = 3; i < count; i++)
        if (strcmp(arguments[i], option) == 0) return true;
    return false;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "litmus litmus|stress SECONDS [atomics] [no-barrier] [no-lease] [one-stripe]\n");
        return 2;
    }
    trial trial = {
        .restartable = !has(count, arguments, "atomics"), .has_barrier = !has(count, arguments, "no-barrier"),
        .is_leased = !has(count, arguments, "no-lease"), .has_one_stripe = has(count, arguments, "one-stripe"),
        .seconds = atof(arguments[2])};
    sched_getaffinity(0, sizeof usable, &usable);
    if (trial.restartable && !bp_can_restart()) {
        printf("skipped: this system has no restartable sequences, or no barrier for them\n");
        return 0;
    }
    if (processor_count() < 2) {
        printf("skipped: one processor shows nothing of what two would\n");
        return 0;
    }
    outcome outcome = strcmp(arguments[1], "stress") == 0 ? run_stress(trial) : run_litmus(trial);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", outcome.flips, outcome.calls, outcome.violations);
    return 0;
}
