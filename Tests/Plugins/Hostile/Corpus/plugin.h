/* A complete plugin without faults: one manager with one method. A family of faulty libraries includes this file, after macros that
 * replace its parts. Each library is compiled with -D and the name of its fault. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include "backplane.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ID
#define ID "org.backplane.tests.hostile"
#endif
#ifndef IDENTITY
#define IDENTITY BP_IDENTITY(ID, "1.0.0")
#endif
#ifndef AT_ENTRY
#define AT_ENTRY                /* runs before the entry answers */
#endif
#ifndef AT_ANSWER
#define AT_ANSWER               /* changes the answer before it is returned */
#endif
#ifndef STATUS
#define STATUS BP_OK            /* the status of the entry */
#endif
#ifndef CLASS
#define CLASS BP_TEXT("Worker")
#endif
#ifndef KIND
#define KIND BP_ASYNC
#endif

IDENTITY

static inline bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* Returns whether the input is `null`, the input of methods without input. */
static inline int is_null(bp_bytes input) { return input.length == 4 && memcmp(input.data, "null", 4) == 0; }

/* Runs forever. */
static inline void *linger(void *nothing) {
    for (;;) pause();
    return nothing;
}

static inline void start_thread(void *(*body)(void *), void *context) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, context) == 0) pthread_detach(thread);
}

static const bp_method methods[] = {
    {sizeof(bp_method), KIND, BP_TEXT("work")},         /* null -> 1 */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("rest")},     /* null -> 1, in every library */
};

#ifndef HAS_CREATE
static char instance;

static inline void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    (void)type;
    (void)creation;
    done(context, BP_OK, &instance, text(""));
}
#endif

#ifndef ACTIVATE
#define ACTIVATE NULL
#endif
#ifndef SUSPEND
#define SUSPEND NULL
#endif
#ifndef STOP
#define STOP NULL
#endif
#ifndef RELEASE
#define RELEASE NULL
#endif
#ifndef CANCEL
#define CANCEL NULL
#endif
#ifndef STATE
#define STATE NULL
#endif
#ifndef STREAMS
#define STREAMS .open = NULL            /* the functions of streams */
#endif
#ifndef WORK
#define WORK done(context, BP_OK, text("1"))        /* the answer to a valid call of `work` */
#endif
#ifndef BAD_WORK
#define BAD_WORK done(context, BP_INVALID_INPUT, text("`work` takes null"))
#endif

static inline void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)self;
    (void)frame;
    (void)id;
    if (!is_null(input)) BAD_WORK;
    else if (method == 0) WORK;
    else done(context, BP_OK, text("1"));
}

#define COMPONENT { \
    .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = CLASS, .version = BP_TEXT("1.0.0"), .contract = BP_TEXT("Work"), \
    .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = 2, .create = create, .activate = ACTIVATE, .suspend = SUSPEND, \
    .stop = STOP, .release = RELEASE, .call = call, .cancel = CANCEL, .state = STATE, STREAMS}

/* Two components, the first of which belongs to the answer. */
static bp_component components[] = {COMPONENT, COMPONENT};

#ifndef HAS_ENTRY
int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .abi = abi, .id = BP_TEXT(ID), .version = BP_TEXT("1.0.0"), .toolchain = BP_TEXT("clang"), .components = components, .component_count = 1,
        .self_check = bp_check_self()};
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    AT_ENTRY
    own.size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own;
    AT_ANSWER
    memcpy(answer, &own, answer->size < sizeof own ? answer->size : sizeof own);
    return STATUS;
}
#endif

#endif
