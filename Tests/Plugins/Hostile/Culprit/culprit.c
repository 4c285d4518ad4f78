/* An edition in plain C of the turnstile that `backplane bench` swaps. It keeps the state it is given, whatever that is, and hands
 * it on. As it stands it does nothing wrong: tests compile it with -D for what is to go wrong, and in which step. */
#include "backplane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IN_NO_STEP, IN_ENTRY, IN_CREATE, IN_ACTIVATE, IN_SUSPEND, IN_RESUME, IN_EXPORT, IN_IMPORT };

#ifndef HANGS
#define HANGS IN_NO_STEP        /* the step that never returns */
#endif
#ifndef FAILS
#define FAILS IN_NO_STEP        /* the step that fails */
#endif
#ifndef ID
#define ID "org.backplane.turnstile"
#endif
#ifndef EDITION
#define EDITION 3
#endif
#ifndef EXPORTED
#define EXPORTED 0              /* so many bytes are its state, instead of what it was given */
#endif

BP_IDENTITY(ID, "3.0.0")

/* What is done when it is loaded, and when its process ends: statements, such as abort(). */
#ifdef LOADED
__attribute__((constructor)) static void loaded(void) { LOADED; }
#endif
#ifdef ENDED
__attribute__((destructor)) static void ended(void) { ENDED; }
#endif

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* 0: it goes on. */
static int goes_wrong(int step) {
    while (HANGS == step) pause();
    return FAILS == step;
}

static void end(int step, bp_done done, void *context) {
    if (goes_wrong(step)) done(context, BP_FAILED, text("the culprit fails here"));
    else done(context, BP_OK, text(""));
}

typedef struct culprit {
    uint8_t *state;
    size_t length;
} culprit;

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("pass")},     /* anything -> a ticket that says which edition this is */
};

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    culprit *self = calloc(1, sizeof *self);
    (void)type;
    (void)creation;
    if (goes_wrong(IN_CREATE)) {
        free(self);
        done(context, BP_FAILED, NULL, text("the culprit fails here"));
        return;
    }
    done(context, BP_OK, self, text(""));
}

static void activate(void *instance, bp_done done, void *context) {
    (void)instance;
    end(IN_ACTIVATE, done, context);
}

static void suspend(void *instance, bp_done done, void *context) {
    (void)instance;
    end(IN_SUSPEND, done, context);
}

static void resume(void *instance, bp_done done, void *context) {
    (void)instance;
    end(IN_RESUME, done, context);
}

static void release(void *instance) {
    free(((culprit *)instance)->state);
    free(instance);
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    char ticket[80];
    (void)instance;
    (void)method;
    (void)input;
    (void)frame;
    (void)id;
    snprintf(ticket, sizeof ticket, "{\"edition\": %d, \"handovers\": 0, \"count\": 0, \"own\": 0}", EDITION);
    done(context, BP_OK, text(ticket));
}

static void export_state(void *instance, uint32_t version, bp_done done, void *context) {
    culprit *self = instance;
    bp_bytes bytes = {self->state, self->length};
    (void)version;
    if (EXPORTED) {
        bytes.data = calloc(1, EXPORTED);
        bytes.length = EXPORTED;
    }
    if (goes_wrong(IN_EXPORT)) done(context, BP_FAILED, text("the culprit fails here"));
    else done(context, BP_OK, bytes);
    if (EXPORTED) free((void *)bytes.data);
}

static void import_state(void *instance, uint32_t version, bp_bytes state, bp_done done, void *context) {
    culprit *self = instance;
    (void)version;
    free(self->state);
    self->state = malloc(state.length + 1);
    self->length = state.length;
    memcpy(self->state, state.data, state.length);
    end(IN_IMPORT, done, context);
}

static const bp_state state = {sizeof(bp_state), 1, BP_TEXT("TurnstileManager"), 1, 1, 1, 0, export_state, import_state, NULL};

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("TurnstileManager"),
    .version = BP_TEXT("3.0.0"),
    .contract = BP_TEXT("Turnstile"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .activate = activate,
    .suspend = suspend,
    .resume = resume,
    .release = release,
    .call = call,
    .state = &state,
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .abi = abi,
        .id = BP_TEXT(ID),
        .version = BP_TEXT("3.0.0"),
        .toolchain = BP_TEXT(__VERSION__),
        .components = components,
        .component_count = sizeof components / sizeof *components,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
#ifdef ENTERED      /* what the entry does before it answers: statements, which may give descriptors that they change */
#define NOWHERE ((const void *)(uintptr_t)64)       /* an address without memory */
    static bp_component changed;
    static bp_method method;
    static bp_wire wire;
    changed = components[0], method = methods[0];
    wire = (bp_wire){
        .size = sizeof wire, .flags = BP_WIRE_OPTIONAL, .label = text("other"), .contract = text("Turnstile"),
        .contract_version = text("1.0.0"), .methods = methods, .method_count = 1};
    ENTERED;
#endif
    if (goes_wrong(IN_ENTRY)) return BP_FAILED;
    own.size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
