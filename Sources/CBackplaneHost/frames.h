/* frames.h: the names of functions in a plugin copy, for the last words of a crash. Not part of the module. */
#ifndef BACKPLANE_FRAMES_H
#define BACKPLANE_FRAMES_H

#include <stdint.h>

/* The greatest number of frames of which the first with a name of the plugin's own is reported, and of bytes of a name. */
enum { BPH_FRAMES = 12, BPH_SYMBOL = 1024 };

/* Looks up the functions of the Swift runtime that `bph_write_frame` calls. */
void bph_find_demangler(void);

/* Writes the function of the first frame that is neither the standard library's nor a thunk, each form on a line: as it
 * is named in the file, then as it is written in Swift, with the line of the source if the file has that.
 *
 * Only the second form allocates. For a child process, since it can meet a lock or a file that was truncated.
 */
void bph_write_frame(int to, const char *copy, const uintptr_t *offsets, int count);

#endif
