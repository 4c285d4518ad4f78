/*
 * watch.h: what a function does with the system while it runs, and how much it computes.
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

/* How far instructions were counted. */
typedef enum bph_counted {
    BPH_NOT_COUNTED,                    /* nobody here counts them */
    BPH_COUNTED,
    BPH_COUNTED_IN_PART,                /* from the first to where counting ended */
} bph_counted;

/* The instructions that a function took outside of the kernel. */
typedef struct bph_count {
    uint64_t instructions;
    bph_counted how;
    int32_t before_call;                /* BPH_COUNTED_IN_PART: the number of the system call that it ended at; -1: at the limit */
} bph_count;

/* Runs `body` on this thread, and returns its time on the processor, in nanoseconds. `count` is what the processor's counters say;
 * not counted where this process may not use them, as in most virtual machines. */
uint64_t bph_measure(void (*body)(void *_Nullable), void *_Nullable context, bph_count *count);

/* Runs `body` on this thread and counts the instructions from the first of `function`, which it calls, to its return: exactly, by
 * the processor's trap after every one of them (x86-64). A step takes 30 us on a virtual machine; after `limit` of them the rest
 * runs freely. So it does from a system call that could not be made with the trap on: one that blocks signals or changes what is
 * done about them, that makes a thread or a process, or that ends one. An instruction that repeats itself (`rep movsb`) takes many
 * steps and counts once. Not to be used by two threads at once. */
void bph_step(void (*body)(void *_Nullable), void *_Nullable context, uintptr_t function, uint64_t limit, bph_count *count);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
