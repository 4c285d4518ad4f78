/*
 * watch.h: what a function does with the system while it runs.
 *
 * In C, because a signal handler may not allocate, take a lock or run into the Swift runtime. Used by the host's tools alone: no
 * plugin has it.
 */
#ifndef BACKPLANE_WATCH_H
#define BACKPLANE_WATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* The most system calls that are noted. */
#define BPH_NOTED_LIMIT 64

/* The system calls that a function made, by their numbers, in their order: those that have to do with memory, clocks and locks
 * are left out. */
typedef struct bph_noted {
    uint32_t count;                     /* at most BPH_NOTED_LIMIT are kept; the others are counted */
    int32_t calls[BPH_NOTED_LIMIT];
} bph_noted;

/* Runs `body` on this thread and notes its system calls. 0: they could not be watched, since this system has no dispatch of system
 * calls to their process (Linux 5.11, x86-64). After the first that makes another thread or process, or replaces this one,
 * nothing more is noted. Not to be used by two threads at once. */
int32_t bph_watch_calls(void (*body)(void *_Nullable), void *_Nullable context, bph_noted *noted);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
