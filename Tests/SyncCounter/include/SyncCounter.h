/* Counts how often this process waits for a disk: its own fsync and fdatasync take the place of the C library's. */
#ifndef SYNC_COUNTER_H
#define SYNC_COUNTER_H

unsigned long synchronizations(void);

/* The size that the part of a download had when the disk was last waited for. */
long long synchronized_part(void);

#endif
