/*
 * trials.h: a process that opens one library before this one loads it.
 *
 * In C, because the process runs this program again, and a constructor takes it over before `main`. The process has
 * this program's libraries, finds others where this program finds them, and needs no other executable.
 * Only the host links this; no plugin contains it.
 */
#ifndef BACKPLANE_TRIALS_H
#define BACKPLANE_TRIALS_H

#include <stdint.h>

/* A process that tries a library: its id, and this process's ends of two pipes, which never block. The process writes a
 * byte to one when it comes to a stage, and the other is its standard error. */
typedef struct bph_trial { int32_t id, progress, printed; } bph_trial;

/* Returns 0 if this program cannot be started again for trials, because this code is not part of the executable itself:
 * its `main` would run. */
int32_t bph_can_try(void);

/* Starts this program again, to call `bph_try_library` and then `exit`. Returns 0 or an error number. */
int32_t bph_start_trial(const char *path, bph_trial *trial);

/* Waits up to some milliseconds, and returns whether the process has ended. */
int32_t bph_wait_for_trial(const bph_trial *trial, int32_t milliseconds);

/* Kills the process and its group if they are still running, and returns its status as waitpid(2) does. */
int32_t bph_end_trial(const bph_trial *trial);

/* Loads a library and describes its plugin. The host defines this; it runs in the process of a trial, before `main`. */
void bph_try_library(const char *path, int32_t progress);

#endif
