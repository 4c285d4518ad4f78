/*
 * sampler.h: what a thread of this process is doing, seen from another one, without stopping it or making it wait.
 *
 * In C, because a signal handler may not allocate, take a lock or run into the Swift runtime, and nothing but C can be
 * read with certainty for that. Used by the host alone: no plugin has it.
 */
#ifndef BACKPLANE_SAMPLER_H
#define BACKPLANE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* Of a thread: where it is, and where its stack begins. */
typedef struct bph_registers {
    uintptr_t program_counter, stack_pointer, frame_pointer;
} bph_registers;

/* How a sample went. */
enum {
    BPH_SAMPLED = 0,
    BPH_LATE = 1,           /* the thread was not reached in time: it is gone, or gets no processor */
    BPH_UNAVAILABLE = 2,    /* somebody else uses the signal, or another sample is being taken, or this is no place for it */
};

/* The number of SIGPROF. */
#define BPH_SIGNAL 27

/* The most of a stack that is copied, in bytes. */
#define BPH_STACK_LIMIT 65536u

/* Interrupts a running thread of this process for as long as it takes to copy its registers and the inner end of its stack.
 * The signal is SIGPROF: made for this, and the only one for it that the threads of Swift's pool do not block. A handler that
 * somebody else has set, a profiler say, is left alone. `count` is the size of `stack`, at most BPH_STACK_LIMIT, and then how
 * much was copied. The thread must not block the signal (BPH_SIGNAL): it would be pending for ever. */
int32_t bph_sample_running(int32_t thread, int32_t limit_ms, bph_registers *registers, void *stack, size_t *count);

/* Copies memory of this process that may not be there, and returns how much of it was. Never faults. */
size_t bph_copy_memory(uintptr_t address, void *to, size_t count);

/* The Swift runtime's: a symbol's name for people, to be freed; NULL for one that is not Swift's. */
char *_Nullable swift_demangle(const char *name, size_t length, char *_Nullable buffer, size_t *_Nullable size, uint32_t flags);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
