/*
 * system.h: calls of the system and of the Swift runtime that Swift cannot make.
 *
 * The system's headers declare some only with _GNU_SOURCE; Swift imports no variadic functions, and rejects `stdout` as
 * shared mutable state. Only the host links this; no plugin contains it.
 */
#ifndef BACKPLANE_SYSTEM_H
#define BACKPLANE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* Makes an empty file share the contents of another one until either is written to. Returns 0 on failure. */
int32_t bph_share_contents(int32_t from, int32_t to);

/* Copies up to `count` bytes inside the kernel, between the current offsets of two files. Returns the number of bytes
 * copied, 0 at the end of the file or if the kernel does not support it, or -1 with errno set. */
int64_t bph_copy_inside(int32_t from, int32_t to, int64_t count);

/* Deallocates a range of a file, which then reads as zeros. Returns 0 if the file system does not support it. */
int32_t bph_punch_hole(int32_t file, int64_t offset, int64_t length);

/* Lets any process of the same user attach to this one, where Yama (`kernel.yama.ptrace_scope` 1) admits only parents. */
void bph_admit_debuggers(void);

/* Makes descendants whose parents have ended children of this process rather than of init. Returns 0 on failure. */
int32_t bph_adopt_orphans(void);

/* Makes the standard output line-buffered, as at a terminal, even if it is a pipe. */
void bph_print_lines(void);

/* Returns a Swift symbol's readable name, to be freed, or NULL for other symbols. Part of the Swift runtime. */
char *_Nullable swift_demangle(const char *name, size_t length, char *_Nullable buffer, size_t *_Nullable size, uint32_t flags);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
