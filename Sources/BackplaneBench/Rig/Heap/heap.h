/* How often this process has asked for heap memory, counted in a library that is preloaded: LD_PRELOAD=lib_YardstickHeap.so. */
#ifndef YARDSTICK_HEAP_H
#define YARDSTICK_HEAP_H

#include <stdint.h>

/* Found by name, because only a process that preloads the library has it. Any thread. */
uint64_t yardstick_heap_allocations(void);

#endif
