/*
 * trials.h: a process that opens libraries before this one loads them.
 *
 * In C, because it runs before `main`: the process is this program, started once more, and none of the program's own code
 * runs in it. So it has this program's libraries in memory, finds others where this program finds them, and there is no
 * executable that might be missing. Only the host links this; no plugin contains it.
 */
#ifndef BACKPLANE_TRIALS_H
#define BACKPLANE_TRIALS_H

#include <stdint.h>

/* The longest path of a library, the longest name of a toolchain, and the longest text of a verdict, in bytes. */
#define BPH_TRIAL_PATH 4096
#define BPH_TRIAL_TOOLCHAIN 4096
#define BPH_TRIAL_TEXT 2048

/* What became of the child in which a library was opened. */
enum {
    /* There is no verdict yet: the process is ready for the first library. */
    BPH_TRIAL_READY = 0,
    /* The library was opened, described itself if it could, and its destructors have run. */
    BPH_TRIAL_PASSED = 1,
    /* The system's loader does not load the library, for the reason in the text. */
    BPH_TRIAL_REFUSED = 2,
    /* The child ended in `stage`, with the exit code or by the signal in `number`, or was killed after the limit. */
    BPH_TRIAL_EXIT = 3, BPH_TRIAL_SIGNAL = 4, BPH_TRIAL_OVERDUE = 5,
    /* The system gives no child: the error number is in `number`. */
    BPH_TRIAL_NO_CHILD = 6,
};

/* The stage of a trial: the loader and constructors, the entry function, the descriptors in its answer, destructors. */
enum { BPH_TRIAL_LOADING = 0, BPH_TRIAL_ENTERING = 1, BPH_TRIAL_READING = 2, BPH_TRIAL_ENDING = 3 };

/* The request to open a library: one message of the channel. The path follows, with a zero at its end, and then the
 * toolchain that the host offers to plugins, without one. `id` is not 0. */
typedef struct bph_trial_request { uint32_t id; uint32_t limit_ms; } bph_trial_request;

/* The answer to the request `id`: one message of the channel. What the child printed to standard error follows, or the
 * loader's reason. For a child that is killed in the moment in which it answers there are two answers. */
typedef struct bph_trial_verdict { uint32_t id; int32_t outcome; int32_t number; int32_t stage; } bph_trial_verdict;

/* Returns 0 if this program cannot be started again for trials, because this code is not part of the executable itself:
 * its `main` would run. */
int32_t bph_can_try(void);

/* Starts this program again, as a process that reads requests from `channel`, the other end of a pair of SOCK_SEQPACKET
 * sockets, and ends when that is closed. Returns its process id, or an error number as a negative number. */
int32_t bph_start_trials(int32_t channel);

#endif
