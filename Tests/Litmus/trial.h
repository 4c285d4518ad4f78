/*
 * What the programs that try the leases of lease.h have in common.
 */
#ifndef BACKPLANE_TRIAL_H
#define BACKPLANE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

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

/* One caller and one flipper, each on a processor of its own: is a binding ever in a caller's hands after it drained? */
outcome run_litmus(trial trial);

/* More callers than processors, and a flipper that overwrites and frees the cells of every binding that has drained. */
outcome run_stress(trial trial);

bp_binding *_Nonnull new_binding(const void *_Nullable const *_Nullable cells, trial trial);

/* Processors this process may use, and the number of the one at an index. */
int processor_count(void);
int processor_at(int index);

double seconds_now(void);

#endif
