/*
 * litmus PROGRAM SECONDS [atomics] [no-barrier] [no-lease] [one-stripe]
 *
 * Runs `litmus` or `stress` and prints how many flips, calls and violations there were, or why it cannot run here.
 */
#define _GNU_SOURCE
#include "trial.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cpu_set_t usable;

int processor_count(void) { return CPU_COUNT(&usable); }

int processor_at(int index) {
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &usable) && index-- == 0) return processor;
    abort();
}

double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bp_binding *new_binding(const void *const *cells, trial trial) {
    bp_binding *binding = bp_binding_new(cells, trial.restartable);
    if (trial.has_one_stripe) binding->last_stripe = 0;
    return binding;
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
        .is_leased = !has(count, arguments, "no-lease"), .has_one_stripe = has(count, arguments, "one-stripe"), .seconds = atof(arguments[2])};
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
