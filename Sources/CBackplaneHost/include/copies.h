/*
 * copies.h: what a file system offers for copies of files.
 *
 * In C, because the system's headers show it only to those who ask for Linux's own. Used by the host alone: no plugin has it.
 */
#ifndef BACKPLANE_COPIES_H
#define BACKPLANE_COPIES_H

#include <stdint.h>

/* Has an empty file share all that another one holds, until either is written to. 0: it does not. */
int32_t bph_share_contents(int32_t from, int32_t to);

/* Copies up to `count` bytes inside the kernel, from where one file stands to where the other does. Returns how many those were; 0 at
 * the end of the file, or where the kernel cannot; -1: errno says why. */
int64_t bph_copy_inside(int32_t from, int32_t to, int64_t count);

/* Gives the room of a stretch of a file back, which reads as zeros from then on. 0: the file system cannot. */
int32_t bph_punch_hole(int32_t file, int64_t offset, int64_t length);

#endif
