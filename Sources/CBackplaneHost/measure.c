#define _GNU_SOURCE
#include "watch.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t bph_measure(void (*body)(void *), void *context, bph_count *count) {
    struct perf_event_attr wanted = {
        .size = sizeof wanted, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .exclude_hv = 1};
    const int counter = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 8ul /* PERF_FLAG_FD_CLOEXEC */);
    uint64_t before = 0, after = 0;
    bool counts = counter >= 0 && read(counter, &before, sizeof before) == sizeof before;
    const uint64_t began = processor_time();
    body(context);
    const uint64_t time = processor_time() - began;
    counts = counts && read(counter, &after, sizeof after) == sizeof after && after > before;
    *count = (bph_count){counts ? after - before : 0, counts ? BPH_COUNTED : BPH_NOT_COUNTED, -1};
    if (counter >= 0) close(counter);
    return time;
}
