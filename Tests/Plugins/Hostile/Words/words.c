/* Ways in which a method ends its host, or might. */
#define _GNU_SOURCE
#define WORK work(done, context)
#define BAD_WORK work(done, context)

#include "backplane.h"

#include <sys/resource.h>

static void work(bp_done done, void *context);

#include "../Corpus/plugin.h"

#if defined(CROWD)
/* So many threads write to memory that is not there at the same time. */
enum { COUNT = 64 };
static pthread_barrier_t all_there;

static void *fault(void *nothing) {
    pthread_barrier_wait(&all_there);
    *(volatile int *)8 = 1;
    return nothing;
}

static void work(bp_done done, void *context) {
    (void)done, (void)context;
    pthread_barrier_init(&all_there, NULL, COUNT);
    for (int index = 0; index < COUNT; index++) start_thread(fault, NULL);
    linger(NULL);
}
#elif defined(CLOSED_PIPE)
static void work(bp_done done, void *context) {
    int ends[2];
    if (pipe(ends) == 0) close(ends[0]);
    done(context, BP_OK, text(write(ends[1], "x", 1) == 1 ? "true" : "false"));
}
#elif defined(NO_MEMORY)
/* The system gives nothing more, as the runtime finds out where it ends a process that gets no memory. */
static void work(bp_done done, void *context) {
    const struct rlimit none = {0, 0};
    (void)done, (void)context;
    setrlimit(RLIMIT_AS, &none);
    abort();
}
#endif
