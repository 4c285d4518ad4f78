/* A library that counts the heap allocations of a process that preloads it: LD_PRELOAD=libBenchmarkHeap.so. */
#ifndef YARDSTICK_HEAP_H
#define YARDSTICK_HEAP_H

#include <stdint.h>

/* Returns the number of heap allocations so far. Looked up by name, because only a process that preloads the library has
 * it. Can be called from any thread. */
uint64_t benchmark_heap_allocations(void);

#endif
