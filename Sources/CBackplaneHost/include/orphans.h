/*
 * orphans.h: the adoption of processes that a child leaves behind.
 *
 * In C, because Swift does not import variadic functions.
 */
#ifndef BACKPLANE_ORPHANS_H
#define BACKPLANE_ORPHANS_H

#include <stdint.h>

/* Makes descendants whose parents have ended children of this process rather than of init. Returns 0 on failure. */
int32_t bph_adopt_orphans(void);

#endif
