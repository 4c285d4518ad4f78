/*
 * lines.h: the buffering of the standard output.
 *
 * In C, because Swift 6 rejects `stdout` as shared mutable state.
 */
#ifndef BACKPLANE_LINES_H
#define BACKPLANE_LINES_H

/* Makes the standard output line-buffered, as at a terminal, even if it is a pipe. */
void bph_print_lines(void);

#endif
