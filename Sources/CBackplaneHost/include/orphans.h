/*
 * orphans.h: who takes the processes that a child leaves.
 *
 * In C, because Swift does not see functions that take as many arguments as they are given.
 */
#ifndef BACKPLANE_ORPHANS_H
#define BACKPLANE_ORPHANS_H

#include <stdint.h>

/* From now on a process that descends from this one, and whose parent ends, becomes this one's child, not the system's. 0: it does not. */
int32_t bph_adopt_orphans(void);

#endif
