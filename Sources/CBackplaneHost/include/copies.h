/*
 * copies.h: file system support for copies of files.
 *
 * In C, because the system's headers declare it only with _GNU_SOURCE. Only the host links this; no plugin contains it.
 */
#ifndef BACKPLANE_COPIES_H
#define BACKPLANE_COPIES_H

#include <stdint.h>

/* Makes an empty file share the contents of another one until either is written to. Returns 0 on failure. */
int32_t bph_share_contents(int32_t from, int32_t to);

/* Copies up to `count` bytes inside the kernel, between the current offsets of two files. Returns the number of bytes
 * copied, 0 at the end of the file or if the kernel does not support it, or -1 with errno set. */
int64_t bph_copy_inside(int32_t from, int32_t to, int64_t count);

/* Deallocates a range of a file, which then reads as zeros. Returns 0 if the file system does not support it. */
int32_t bph_punch_hole(int32_t file, int64_t offset, int64_t length);

#endif
