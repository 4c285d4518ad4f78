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

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* Changes with anything in this file, and with what Swift code stores in cells. */
#define BP_LANE_REVISION 1u

/* Entries and leaves are counted apart and only ever grow: leaves are summed first, so equal sums mean drained. */
typedef struct bp_binding {
    const void *_Nullable const *_Nullable cells;   /* member of the contract -> cell; read only while leased */
    void *_Nullable keeper;                         /* the host's own */
    uint64_t entered, left;
} bp_binding;

typedef struct bp_slot {
    bp_binding *_Nullable binding;                  /* NULL: closed */
    uint32_t number;                                /* of the component that calls through it */
    uint32_t reserved;
} bp_slot;

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

/* The consumer's side of an encoded wire, behind bp_wire.lane. */
typedef struct bp_wire_lane {
    void *type;
    bp_make_cells make_cells;
} bp_wire_lane;

/* NULL: the slot is closed. */
static inline __attribute__((always_inline)) bp_binding *_Nullable bp_enter(bp_slot *slot) {
    for (;;) {
        bp_binding *_Nullable binding = __atomic_load_n(&slot->binding, __ATOMIC_ACQUIRE);
        if (__builtin_expect(!binding, 0)) return NULL;
        __atomic_fetch_add(&binding->entered, 1, __ATOMIC_SEQ_CST);
        if (__builtin_expect(__atomic_load_n(&slot->binding, __ATOMIC_SEQ_CST) == binding, 1)) return binding;
        __atomic_fetch_add(&binding->left, 1, __ATOMIC_RELEASE);
    }
}

static inline __attribute__((always_inline)) void bp_leave(bp_binding *binding) {
    __atomic_fetch_add(&binding->left, 1, __ATOMIC_RELEASE);
}

static inline __attribute__((always_inline)) const void *bp_cell(const bp_binding *binding, intptr_t member) {
    return (const void *)binding->cells[member];
}

/* Puts a binding, or NULL, into the slot and returns the one it held, which from now on only drains. */
static inline bp_binding *_Nullable bp_flip(bp_slot *slot, bp_binding *_Nullable binding) {
    return __atomic_exchange_n(&slot->binding, binding, __ATOMIC_SEQ_CST);
}

/* Calls under way on a binding; once it is out of its slot, 0 means for good. */
static inline uint64_t bp_in_flight(bp_binding *binding) {
    uint64_t left = __atomic_load_n(&binding->left, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&binding->entered, __ATOMIC_SEQ_CST) - left;
}

/* Appends the calling component to the frame's path; 0 is the host program, which is in no path. */
static inline __attribute__((always_inline)) void bp_call_append(bp_call *call, uint32_t number) {
    uint32_t used = call->flags & BP_CALL_PATH_COUNT;
    if (number == 0) return;
    if (__builtin_expect(used < 8, 1)) {
        call->path[used] = (uint16_t)number;
        call->flags++;
    } else {
        call->flags |= BP_CALL_PATH_FULL;
    }
}

/* This copy of the SDK: its version, the compiler of its C target, and BP_LAYOUT as that compiler saw it. Hidden, so that
 * a plugin asks its own copy and never its host's. */
__attribute__((visibility("hidden"))) extern const char *const bp_sdk_version;
__attribute__((visibility("hidden"))) extern const char *const bp_sdk_toolchain;
__attribute__((visibility("hidden"))) extern const bp_field *const bp_sdk_layout;
__attribute__((visibility("hidden"))) extern const size_t bp_sdk_layout_count;

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
