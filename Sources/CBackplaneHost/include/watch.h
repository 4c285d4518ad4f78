/*
 * watch.h: the recording of a function's system calls.
 *
 * In C, because a signal handler must not allocate, take locks or enter the Swift runtime. Only the host's tools use
 * this; no plugin contains it.
 */
#ifndef BACKPLANE_WATCH_H
#define BACKPLANE_WATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* The maximum number of system calls that are recorded. */
#define BPH_NOTED_LIMIT 64

/* The numbers of the system calls that a function made, in order, except those for memory, clocks, locks and ids. */
typedef struct bph_noted {
    uint32_t count;                     /* at most BPH_NOTED_LIMIT are kept; the others are counted */
    int32_t calls[BPH_NOTED_LIMIT];
} bph_noted;

/* Runs `body` on this thread and records its system calls.
 *
 * Returns 0 if they could not be recorded, because the system lacks syscall user dispatch (Linux 5.11, x86-64). Nothing
 * is recorded after the first call that creates a thread or process or replaces this process. Not to be used by two
 * threads at once. */
int32_t bph_watch_calls(void (*body)(void *_Nullable), void *_Nullable context, bph_noted *noted);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
