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

/* The longest path of a library, and the longest text of a verdict, in bytes. */
#define BPH_TRIAL_PATH 4096
#define BPH_TRIAL_TEXT 2048

/* What became of the child in which a library was opened. */
enum {
    /* There is no verdict yet: the process is ready for the first library. */
    BPH_TRIAL_READY = 0,
    /* The library was opened, and its destructors have run. */
    BPH_TRIAL_PASSED = 1,
    /* The system's loader does not load the library, for the reason in the text. */
    BPH_TRIAL_REFUSED = 2,
    /* The child ended with the exit code in `number`, while it loaded the library or while it ended. */
    BPH_TRIAL_EXIT_LOADING = 3, BPH_TRIAL_EXIT_ENDING = 4,
    /* A signal ended the child, the one in `number`. */
    BPH_TRIAL_SIGNAL_LOADING = 5, BPH_TRIAL_SIGNAL_ENDING = 6,
    /* The child was killed after the limit. */
    BPH_TRIAL_OVERDUE_LOADING = 7, BPH_TRIAL_OVERDUE_ENDING = 8,
    /* The system gives no child: the error number is in `number`. */
    BPH_TRIAL_NO_CHILD = 9,
};

/* The request to open a library: one message of the channel, with the path after it, without a zero. `id` is not 0. */
typedef struct bph_trial_request { uint32_t id; uint32_t limit_ms; } bph_trial_request;

/* The answer to the request `id`: one message of the channel. What the child printed to standard error follows, or the
 * loader's reason. For a child that is killed in the moment in which it answers there are two answers. */
typedef struct bph_trial_verdict { uint32_t id; int32_t outcome; int32_t number; } bph_trial_verdict;

/* Returns 0 if this program cannot be started again for trials, because this code is not part of the executable itself:
 * its `main` would run. */
int32_t bph_can_try(void);

/* Starts this program again, as a process that reads requests from `channel`, the other end of a pair of SOCK_SEQPACKET
 * sockets, and ends when that is closed. Returns its process id, or an error number as a negative number. */
int32_t bph_start_trials(int32_t channel);

#endif
