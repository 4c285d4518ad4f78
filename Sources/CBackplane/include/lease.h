/*
 * lease.h: the types that a host shares with Swift plugins of its lane revision only. Plugins in C do not use it.
 *
 * A wire has a slot of its own, which contains the active binding: the cells through which it is called. A call leases
 * the binding: it counts itself in, checks that the slot still contains this binding, and counts itself out when it
 * ends. A binding that was taken out of its slot can only drain, because new calls fail the check.
 */
#ifndef BACKPLANE_LEASE_H
#define BACKPLANE_LEASE_H

#include "backplane.h"

/* On platforms with restartable sequences, counting is a plain addition, which the kernel restarts if it is
 * interrupted. */
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

/* The revision, which changes with anything in this file, with the types in cells (Boundary/Lanes/NativeCells.swift,
 * Boundary/Streams/StreamCells.swift), and with BackplaneError. */
#define BP_LANE_REVISION 8u

/* --------------------------------------------------------------------------------------- bindings and slots */

/* One processor's counts of one binding. Entries and leaves are counted separately, since a call may end on another
 * processor than it began on. Both counts only grow: if the leaves are summed first, equal sums mean that the binding
 * is drained. */
typedef struct bp_stripe {
    uint64_t entered, left;                         /* plain: written only in restartable sequences of this processor */
    uint64_t entered_atomic, left_atomic;
    uint8_t padding[96];                            /* no two stripes share a cache line, or two fetched together */
} bp_stripe;

typedef struct bp_provider bp_provider;

/* The content of an open slot. Never freed, and reused only by its own slot. */
typedef struct bp_binding {
    const void *_Nullable const *_Nullable cells;   /* member of the contract -> cell; read only while leased */
    uint32_t last_stripe;                           /* a power of two, less one */
    uint32_t restartable;                           /* counted without atomics: a flip needs a barrier */
    const bp_provider *_Nullable provider;          /* keeps the native streams that are opened through the slot */
    uint8_t padding[104];
    bp_stripe stripes[];
} bp_binding;

typedef struct bp_slot bp_slot;

/* The completion of a wait at a gate, called exactly once. With BP_OK, binding is set and leased for the caller, who
 * ends the lease; otherwise payload is the error. */
typedef void (*BP_SENDABLE bp_admitted)(void *_Nullable context, int32_t status, bp_binding *_Nullable binding, bp_bytes payload);

/* The functions that admit calls to a closed slot. */
typedef struct bp_gate {
    void *owner;
    /* Waits until the slot is open again, the call's deadline has passed, the wait is cancelled, or the host ends.
     * Returns an id by which the wait can be cancelled, or 0 if it has already ended. */
    uint64_t (*wait)(bp_slot *slot, const bp_call *call, bp_admitted done, void *_Nullable context);
    void (*cancel)(bp_slot *slot, uint64_t id);
    /* Decides about a call of a synchronous method, which cannot wait. Calls `done` before it returns. */
    void (*admit_now)(bp_slot *slot, const bp_call *call, bp_admitted done, void *_Nullable context);
    /* Answers with the name of a member for an error, such as `Shelf.find (org.example.shelf)`, or with no text if the
     * name is unknown. Calls `done` before it returns. */
    void (*name)(bp_slot *slot, intptr_t member, bp_done done, void *_Nullable context);
} bp_gate;

/* The place through which a wire calls. Never freed or given to another wire, since a Wire may be kept for ever. */
struct bp_slot {
    bp_binding *_Nullable binding;                  /* NULL: closed */
    uint32_t number;                                /* of the component that calls through it */
    uint32_t reserved;
    const bp_gate *gate;
};

/* --------------------------------------------------------------------------------------------------- leasing */

#if BP_RESTARTABLE
/* Adds 1 to the counter of this processor's stripe, and restarts if the thread is preempted, moved or interrupted
 * meanwhile. Goes to `otherwise` if the thread has no restartable sequences (the processor's number is -1 or -2 then),
 * or the processor has no stripe. */
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

/* Returns the index of a stripe. Any stripe is correct; the stripe of the caller's processor is fastest. */
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

/* Leases the binding in a slot, or returns NULL if the slot is closed. */
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

/* Appends the calling component to the frame's path; 0 is the host program, which is not part of paths. */
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

/* -------------------------------------------------------------------------------------- the owner of slots */

/* Returns whether the system supports restartable bindings; called once in a process, before the first is created. */
BP_HIDDEN int bp_can_restart(void);

/* Creates a closed slot. */
BP_HIDDEN bp_slot *bp_slot_new(uint32_t number, const bp_gate *gate);

BP_HIDDEN bp_binding *bp_binding_new(const void *_Nullable const *_Nullable cells, int restartable);

/* Puts a binding, or NULL, into the slot and returns the previous binding, which only drains once bp_barrier has been
 * called. One barrier is enough for several flips. */
BP_HIDDEN bp_binding *_Nullable bp_flip(bp_slot *slot, bp_binding *_Nullable binding);
BP_HIDDEN void bp_barrier(void);

/* Returns the number of calls in flight on a binding; after a flip and a barrier, 0 is final. */
BP_HIDDEN uint64_t bp_in_flight(const bp_binding *binding);

/* Returns the number of calls that have begun on a binding, including those that found the slot flipped as they
 * entered. */
BP_HIDDEN uint64_t bp_entered(const bp_binding *binding);

/* ------------------------------------------------------------------------------------------------ descriptors */

/* Returns a contract's layout in the module that compiled it, as a text that lives as long as the process. Equal texts
 * mean equal layouts. The first call costs tens of microseconds for each type. */
typedef bp_bytes (*BP_SENDABLE bp_layout)(void *type);

/* Rehearses the coding of a contract's values. Answers an empty request with samples of the values in JSON. Answers
 * samples of another module with the mistakes in reading them, or with the input that resumes a stream. Answers before
 * it returns. */
typedef void (*BP_SENDABLE bp_rehearse)(void *type, bp_bytes request, bp_done done, void *_Nullable context);

/* Ends an open stream with an error, at once or when its body has reacted; may be called more than once. */
typedef void (*BP_SENDABLE bp_end_stream)(void *stream, int32_t status, bp_bytes payload);
typedef void (*BP_SENDABLE bp_release_stream)(void *stream);
/* The number of elements that the consumer has taken. */
typedef uint64_t (*BP_SENDABLE bp_count_elements)(void *stream);

/* Opens an encoded stream for component `consumer`, or answers `refused` once with an error and returns NULL. The stream
 * is valid until it is closed. */
typedef void *_Nullable (*BP_SENDABLE bp_open_encoded)(void *target, uint32_t method, bp_bytes input, const bp_call *call,
                                                       uint32_t consumer, bp_done refused, void *_Nullable context);

/* The target of a wire's encoded cells: the host, which calls the provider's C function and enforces its obligations. */
struct bp_provider {
    void *target;
    const bp_method *_Nullable methods;
    size_t method_count;
    /* Returns an id by which the call can be cancelled, or 0 if it has already ended; synchronous calls always have. */
    uint64_t (*call)(void *target, uint32_t method, bp_bytes input, const bp_call *call, bp_done done, void *_Nullable context);
    void (*cancel)(void *target, uint64_t id);
    bp_open_encoded open;
    /* As in bp_streams_1. */
    void (*next)(void *stream, uint32_t max, bp_done done, void *_Nullable context);
    void (*close)(void *stream);
    /* Keeps a native stream that component `consumer` has opened, and the instance for its body, until `ended`; then
     * `release` is called. Returns the number for `ended`. If the stream is not kept, answers `refused` with an error and
     * returns 0. NULL: streams are not kept. */
    uint64_t (*_Nullable opened)(void *target, uint32_t consumer, void *stream, bp_end_stream end, bp_count_elements count,
                                 bp_release_stream release, bp_done refused, void *_Nullable context);
    /* The body of a native stream has returned. */
    void (*_Nullable ended)(void *target, uint64_t stream);
};

/* Creates the cells that encode, call the provider and decode; cells and provider live as long as the process. */
typedef const void *_Nullable const *_Nullable (*BP_SENDABLE bp_make_cells)(void *type, const bp_provider *provider);

/* The consumer's side of a native lane, in bp_wire.lane. */
typedef struct bp_wire_lane {
    void *type;
    bp_layout layout;
    bp_rehearse rehearse;
    bp_make_cells make_cells;
} bp_wire_lane;

/* Returns the cells of an instance, which live as long as the instance. */
typedef const void *_Nullable const *_Nullable (*BP_SENDABLE bp_cells_of)(void *instance);

/* The provider's side of native lanes, in bp_component.lane. A component with a native lane has a `cancel`. If swaps of
 * the component wait for calls, `cancel` with the id 0, which no call has, cancels the tasks of all native calls in
 * flight. */
typedef struct bp_component_lane {
    void *type;
    bp_layout layout;
    bp_rehearse rehearse;
    bp_cells_of cells;
    /* Returns the number of an instance's native calls that have failed, without cancelled ones. Encoded calls are not
     * included, because the host sees their answers. */
    uint64_t (*failures)(void *instance);
    /* Answers with the error of the last of these calls, and returns its time in seconds since 1970. Returns 0 if there
     * is none, and then does not answer. */
    double (*last_failure)(void *instance, bp_done done, void *_Nullable context);
} bp_component_lane;

/* A state as a Swift value, in memory of the library that exported it until `release` is called once. Before that, it
 * can be imported any number of times. The value is of the class's own version of the schema. */
typedef void (*BP_SENDABLE bp_export_value)(void *instance, bp_created done, void *_Nullable context);
typedef void (*BP_SENDABLE bp_import_value)(void *instance, const void *value, bp_done done, void *_Nullable context);

/* The native lane of a state, in bp_state.lane. The functions are steps, as bp_export and bp_import are. With BP_OK,
 * `export_value` passes the value as the instance of bp_created. `import_value` copies the value before it returns. */
typedef struct bp_state_lane {
    void *type;
    bp_layout layout;                               /* of the state, in the form of a contract's layout */
    bp_export_value export_value;
    bp_import_value import_value;
    void (*release)(void *type, void *value);
} bp_state_lane;

/* Returns the number of nested encoded calls into this copy of the SDK that are on this thread's stack. */
BP_HIDDEN uint32_t *bp_nested_calls(void);

/* Runs a function on a new detached thread, or returns 0 if the system provides none. */
BP_HIDDEN int bp_start_thread(void (*run)(void *context), void *context);

/* The version of this copy of the SDK, and the compiler of its C target, which `CC` can choose. Both are hidden, so
 * that a plugin reads the values of its own copy and not its host's. */
BP_HIDDEN extern const char *const bp_sdk_version;
BP_HIDDEN extern const char *const bp_sdk_toolchain;

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif

#endif
