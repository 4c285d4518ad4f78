/*
 * lease.h: what a host shares with Swift plugins of its lane revision, and with nobody else. Plugins in C never see it.
 *
 * A wire has a slot of its own; in it is the binding now in force: the cells it is called by. A call leases the binding:
 * it counts itself in, re-checks that the slot still holds this binding, and counts itself out when it ends. A binding
 * that was taken out of its slot drains for good, because newcomers fail the re-check.
 */
#ifndef BACKPLANE_LEASE_H
#define BACKPLANE_LEASE_H

#include "backplane.h"

/* Where the platform has restartable sequences, counting is a plain add that the kernel restarts when it is disturbed. */
#if defined(__linux__) && defined(__x86_64__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define BP_RESTARTABLE 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

#define BP_INLINE static inline __attribute__((always_inline))
#define BP_HIDDEN __attribute__((visibility("hidden")))

/* Changes with anything in this file, and with what Swift code stores in cells (Boundary/Lanes/Cell.swift). */
#define BP_LANE_REVISION 2u

/* --------------------------------------------------------------------------------------- bindings and slots */

/* One processor's counts of one binding. Entries and leaves are counted apart, since a call may end on another processor
 * than it began on, and only ever grow: with leaves summed first, equal sums mean drained. */
typedef struct bp_stripe {
    uint64_t entered, left;                         /* plain: written only inside a restartable sequence of this processor */
    uint64_t entered_atomic, left_atomic;
    uint8_t padding[96];                            /* no two stripes in one cache line, nor in two that are fetched together */
} bp_stripe;

/* Never freed, and used again only by its own slot. */
typedef struct bp_binding {
    const void *_Nullable const *_Nullable cells;   /* member of the contract -> cell; read only while leased */
    uint32_t last_stripe;                           /* a power of two, less one */
    uint32_t restartable;                           /* whoever takes it out of its slot pays with a barrier */
    uint8_t padding[112];
    bp_stripe stripes[];
} bp_binding;

typedef struct bp_slot bp_slot;

/* Ends a wait at a gate: exactly once. With BP_OK, binding is set and leased for the caller, who leaves it; otherwise
 * payload is the error. */
typedef void (*BP_SENDABLE bp_admitted)(void *_Nullable context, int32_t status, bp_binding *_Nullable binding, bp_bytes payload);

/* Where calls go that find their slot closed. */
typedef struct bp_gate {
    void *owner;
    /* Waits until the slot is open again, until the call's deadline, until it is cancelled, or for the host's end. Returns an
     * id to cancel the wait by, 0 when it has ended already. */
    uint64_t (*wait)(bp_slot *slot, const bp_call *call, bp_admitted done, void *_Nullable context);
    void (*cancel)(bp_slot *slot, uint64_t id);
    /* For a synchronous method, which cannot wait: has ended when it returns. */
    void (*admit_now)(bp_slot *slot, const bp_call *call, bp_admitted done, void *_Nullable context);
} bp_gate;

/* Never freed nor given to another wire, since a Wire may be kept for ever. */
struct bp_slot {
    bp_binding *_Nullable binding;                  /* NULL: closed */
    uint32_t number;                                /* of the component that calls through it */
    uint32_t reserved;
    const bp_gate *gate;
};

/* --------------------------------------------------------------------------------------------------- leasing */

#if BP_RESTARTABLE
/* counter of this processor's stripe += 1, begun anew when the thread is preempted, moved or interrupted before it is done. Goes to
 * `otherwise` when the thread has no restartable sequences, or the processor no stripe (its number is also -1 or -2 then). */
#define BP_COUNT(counter, last_stripe, otherwise)                                                                       \
    __asm__ goto(                                                                                                       \
        ".pushsection __rseq_cs, \"aw\"\n\t"                                                                            \
        ".balign 32\n"                                                                                                  \
        "3:\n\t.long 0, 0\n\t.quad 1f, (2f - 1f), 4f\n\t"           /* version, flags, start, length, abort */          \
        ".popsection\n"                                                                                                 \
        "5:\n\tleaq 3b(%%rip), %%rcx\n\tmovq %%rcx, %%fs:8(%0)\n"   /* rseq->rseq_cs = the sequence */                  \
        "1:\n\tmovl %%fs:4(%0), %%ecx\n\tcmpl %2, %%ecx\n\tja %l[" #otherwise "]\n\t"   /* rseq->cpu_id */              \
        "shlq $7, %%rcx\n\tincq (%1, %%rcx)\n"                      /* 128 bytes a stripe */                            \
        "2:\n\t.pushsection __rseq_failure, \"ax\"\n\t"                                                                 \
        ".byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n"              /* glibc's signature */                             \
        "4:\n\tjmp 5b\n\t.popsection\n"                                                                                 \
        :                                                                                                               \
        : "r"(__rseq_offset), "r"(counter), "r"(last_stripe)                                                            \
        : "rcx", "memory", "cc"                                                                                         \
        : otherwise)
#endif

/* Any stripe is right; one of the caller's own processor is fast. */
BP_INLINE uint32_t bp_stripe_near(const bp_binding *binding) {
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
#if BP_RESTARTABLE
    int32_t processor = *(volatile int32_t *)(thread + (uintptr_t)__rseq_offset + 4);
    if (__builtin_expect(processor >= 0, 1)) return (uint32_t)processor & binding->last_stripe;
#endif
    return (uint32_t)(((uint64_t)thread * 0x9E3779B97F4A7C15ull) >> 40) & binding->last_stripe;
}

static __attribute__((noinline, unused)) void bp_count_in(bp_binding *binding) {
    __atomic_fetch_add(&binding->stripes[bp_stripe_near(binding)].entered_atomic, 1, __ATOMIC_SEQ_CST);
}

static __attribute__((noinline, unused)) void bp_count_out(bp_binding *binding) {
    __atomic_fetch_add(&binding->stripes[bp_stripe_near(binding)].left_atomic, 1, __ATOMIC_RELEASE);
}

BP_INLINE void bp_leave(bp_binding *binding) {
#if BP_RESTARTABLE
    if (__builtin_expect(binding->restartable, 1)) {
        BP_COUNT(&binding->stripes[0].left, binding->last_stripe, by_atomics);
        return;
    }
by_atomics:
#endif
    bp_count_out(binding);
}

/* NULL: the slot is closed. */
BP_INLINE bp_binding *_Nullable bp_enter(bp_slot *slot) {
    for (;;) {
        bp_binding *_Nullable binding = __atomic_load_n(&slot->binding, __ATOMIC_ACQUIRE);
        if (__builtin_expect(!binding, 0)) return NULL;
#if BP_RESTARTABLE
        if (__builtin_expect(binding->restartable, 1)) {
            BP_COUNT(&binding->stripes[0].entered, binding->last_stripe, by_atomics);
            goto counted;
        }
by_atomics:
#endif
        bp_count_in(binding);
#if BP_RESTARTABLE
counted:
#endif
        /* Dekker: with the atomics both sides are sequentially consistent, without them bp_barrier pays for both. */
        if (__builtin_expect(__atomic_load_n(&slot->binding, __ATOMIC_SEQ_CST) == binding, 1)) return binding;
        bp_leave(binding);
    }
}

BP_INLINE const void *bp_cell(const bp_binding *binding, intptr_t member) {
    return (const void *)binding->cells[member];
}

/* Appends the calling component to the frame's path; 0 is the host program, which is in no path. */
BP_INLINE void bp_call_append(bp_call *call, uint32_t number) {
    uint32_t used = call->flags & BP_CALL_PATH_COUNT;
    if (number == 0) return;
    if (__builtin_expect(used < 8, 1)) {
        call->path[used] = (uint16_t)number;
        call->flags++;
    } else {
        call->flags |= BP_CALL_PATH_FULL;
    }
}

/* -------------------------------------------------------------------------------- of whoever owns the slots */

/* Once in a process, before a restartable binding is made: does the system have what they need? */
BP_HIDDEN int bp_can_restart(void);

/* A closed slot. */
BP_HIDDEN bp_slot *bp_slot_new(uint32_t number, const bp_gate *gate);

BP_HIDDEN bp_binding *bp_binding_new(const void *_Nullable const *_Nullable cells, int restartable);

/* Puts a binding, or NULL, into the slot and returns the one it held. That one only drains once bp_barrier was called,
 * which may be after several flips. */
BP_HIDDEN bp_binding *_Nullable bp_flip(bp_slot *slot, bp_binding *_Nullable binding);
BP_HIDDEN void bp_barrier(void);

/* Calls under way on a binding; after a flip and a barrier, 0 means for good. */
BP_HIDDEN uint64_t bp_in_flight(const bp_binding *binding);

/* Calls that have begun on a binding; those that found the slot flipped while they entered are among them. */
BP_HIDDEN uint64_t bp_entered(const bp_binding *binding);

/* ------------------------------------------------------------------------------------------------ descriptors */

/* How a contract is laid out in whoever compiled it, as text that lives as long as the process: equal texts, equal layouts. Costs
 * tens of microseconds a type the first time. */
typedef bp_bytes (*BP_SENDABLE bp_layout)(void *type);

/* What the encoded cells of a wire call: the host, which calls the provider's C function and answers for its promises. */
typedef struct bp_provider {
    void *target;
    const bp_method *_Nullable methods;
    size_t method_count;
    /* Returns an id to cancel the call by, 0 when it has ended already. A synchronous method has always ended. */
    uint64_t (*call)(void *target, uint32_t method, bp_bytes input, const bp_call *call, bp_done done, void *_Nullable context);
    void (*cancel)(void *target, uint64_t id);
} bp_provider;

/* Makes the cells that encode, call the provider and decode; cells and provider live as long as the process. */
typedef const void *_Nullable const *_Nullable (*BP_SENDABLE bp_make_cells)(void *type, const bp_provider *provider);

/* Behind bp_wire.lane: the consumer's side. */
typedef struct bp_wire_lane {
    void *type;
    bp_layout layout;
    bp_make_cells make_cells;
} bp_wire_lane;

/* The cells of an instance itself, which live as long as it does. */
typedef const void *_Nullable const *_Nullable (*BP_SENDABLE bp_cells_of)(void *instance);

/* How many native calls of an instance have ended with an error; cancelled ones are not counted, nor encoded ones, whose answers the
 * host sees itself. */
typedef uint64_t (*BP_SENDABLE bp_failures_of)(void *instance);

/* Behind bp_component.lane: the provider's side. */
typedef struct bp_component_lane {
    void *type;
    bp_layout layout;
    bp_cells_of cells;
    bp_failures_of failures;
} bp_component_lane;

/* How many encoded calls into this copy of the SDK have begun on this thread inside one another and hold its stack. */
BP_HIDDEN uint32_t *bp_nested_calls(void);

/* Runs a function on a new detached thread; 0: the system gives none. */
BP_HIDDEN int bp_start_thread(void (*run)(void *context), void *context);

/* This copy of the SDK: its version, and the compiler of its C target, which `CC` may choose. Hidden, so that a plugin asks its own copy and never its
 * host's. */
BP_HIDDEN extern const char *const bp_sdk_version;
BP_HIDDEN extern const char *const bp_sdk_toolchain;

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif

#endif
