#define _GNU_SOURCE
#include "lease.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if BP_RESTARTABLE
#include <linux/membarrier.h>
#include <sys/syscall.h>

static int is_registered;

static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

int bp_can_restart(void) {
    long commands = membarrier(MEMBARRIER_CMD_QUERY);
    long needed = MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    if (commands < 0 || (commands & needed) != needed) return 0;
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) return 0;
    __atomic_store_n(&is_registered, 1, __ATOMIC_RELEASE);
    return 1;
}

void bp_barrier(void) {
    /* Without the registration, all bindings use atomics, which need no barrier. */
    if (!__atomic_load_n(&is_registered, __ATOMIC_ACQUIRE)) return;
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 || membarrier(MEMBARRIER_CMD_GLOBAL) == 0) return;
    abort();    /* without the barrier, the plain counters cannot be trusted */
}
#else
int bp_can_restart(void) { return 0; }
void bp_barrier(void) {}
#endif

static void *allocate(size_t size) {
    void *memory = aligned_alloc(sizeof(bp_stripe), (size + sizeof(bp_stripe) - 1) / sizeof(bp_stripe) * sizeof(bp_stripe));
    if (!memory) abort();
    return memset(memory, 0, size);
}

bp_slot *bp_slot_new(uint32_t number, const bp_gate *gate) {
    bp_slot *slot = allocate(sizeof(bp_slot));
    slot->number = number;
    slot->gate = gate;
    return slot;
}

bp_binding *bp_binding_new(const void *const *cells, int restartable) {
    /* All configured processors, not only online ones: no two may share a stripe that is written without atomics. */
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    uint32_t stripes = 1;
    while (stripes < processors && stripes < 4096) stripes *= 2;
    bp_binding *binding = allocate(sizeof(bp_binding) + stripes * sizeof(bp_stripe));
    binding->cells = cells;
    binding->last_stripe = stripes - 1;
    binding->restartable = (uint32_t)restartable;
    return binding;
}

bp_binding *bp_flip(bp_slot *slot, bp_binding *binding) {
    return __atomic_exchange_n(&slot->binding, binding, __ATOMIC_SEQ_CST);
}

uint64_t bp_entered(const bp_binding *binding) {
    uint64_t entered = 0;
    for (uint32_t i = 0; i <= binding->last_stripe; i++)
        entered += __atomic_load_n(&binding->stripes[i].entered, __ATOMIC_ACQUIRE) + __atomic_load_n(&binding->stripes[i].entered_atomic, __ATOMIC_SEQ_CST);
    return entered;
}

uint64_t bp_in_flight(const bp_binding *binding) {
    uint64_t left = 0;
    for (uint32_t i = 0; i <= binding->last_stripe; i++)
        left += __atomic_load_n(&binding->stripes[i].left, __ATOMIC_ACQUIRE) + __atomic_load_n(&binding->stripes[i].left_atomic, __ATOMIC_ACQUIRE);
    /* Leaves before entries: a call that begins and ends in between then counts as in flight, and the result is never
     * negative. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return bp_entered(binding) - left;
}

uint32_t *bp_nested_calls(void) {
    static _Thread_local uint32_t count;
    return &count;
}

struct start {
    void (*run)(void *);
    void *context;
};

static void *run_started(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    start.run(start.context);
    return NULL;
}

int bp_start_thread(void (*run)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    pthread_t thread;
    if (!start) return 0;
    *start = (struct start){run, context};
    if (pthread_create(&thread, NULL, run_started, start) != 0) {
        free(start);
        return 0;
    }
    pthread_detach(thread);
    return 1;
}

_Static_assert(sizeof(bp_stripe) == 128, "BP_COUNT multiplies by 128");
_Static_assert(offsetof(bp_binding, stripes) == 128, "stripes begin on a line of their own");
