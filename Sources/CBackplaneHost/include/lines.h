/*
 * lines.h: when what is printed comes out.
 *
 * In C, because Swift does not let its code touch `stdout`.
 */
#ifndef BACKPLANE_LINES_H
#define BACKPLANE_LINES_H

/* From now on the standard output of this process comes out line by line, as at a terminal, also where it is a pipe. */
void bph_print_lines(void);

#endif
