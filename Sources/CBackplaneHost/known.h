/*
 * known.h: where the code of known libraries lies in this process. Of the last words alone.
 */
#ifndef BACKPLANE_KNOWN_H
#define BACKPLANE_KNOWN_H

#include <stdint.h>

/* Finds out where it lies now. For a signal handler; one thread at a time. */
void bph_find_known_code(void);

/* What the library is called whose code an address lies in, as was found out last; NULL: it is nobody's that is known. */
const char *bph_name_at(uintptr_t address);

#endif
