/* A plugin that uses what `bp_state.lane` added to ABI 0, and nothing that was added later.
 *
 * A component keeps one number. Its state has a lane of a revision that no host has: a host does not read it, and carries the
 * number over as bytes. */
#include "backplane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EDITION
#define EDITION 1
#endif

BP_IDENTITY("org.backplane.tests.state-step", "1.0.0")

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

typedef struct {
    pthread_mutex_t lock;
    int number;
} component;

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    component *self = calloc(1, sizeof *self);
    (void)type, (void)creation;
    if (!self) {
        done(context, BP_FAILED, NULL, text("there is no memory"));
        return;
    }
    pthread_mutex_init(&self->lock, NULL);
    done(context, BP_OK, self, text(""));
}

static void release(void *instance) {
    component *self = instance;
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static void export_state(void *instance, uint32_t version, bp_done done, void *context) {
    const component *self = instance;
    const bp_bytes bytes = {(const uint8_t *)&self->number, sizeof self->number};
    (void)version;
    done(context, BP_OK, bytes);
}

static void import_state(void *instance, uint32_t version, bp_bytes state, bp_done done, void *context) {
    component *self = instance;
    (void)version;
    if (state.length != sizeof self->number) {
        done(context, BP_FAILED, text("that is not the state of this component"));
        return;
    }
    memcpy(&self->number, state.data, sizeof self->number);
    done(context, BP_OK, text(""));
}

/* A host that follows the pointer of `lane` crashes. */
static const bp_state state = {
    .size = sizeof(bp_state), .version = 1, .schema = BP_TEXT("number"), .accepts_min = 1, .accepts_max = 1, .writes_min = 1,
    .export_state = export_state, .import_state = import_state, .lane = (const void *)8};

static const bp_method methods[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("add")},           /* null -> the number, which is one more */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},       /* null -> the number of the build */
};

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    component *self = instance;
    char json[32];
    (void)input, (void)frame, (void)id;
    pthread_mutex_lock(&self->lock);
    snprintf(json, sizeof json, "%d", method == 0 ? ++self->number : EDITION);
    pthread_mutex_unlock(&self->lock);
    done(context, BP_OK, text(json));
}

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("StateStepManager"),
    .version = BP_TEXT("1.0.0"),
    .contract = BP_TEXT("StateStep"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .release = release,
    .call = call,
    .state = &state,
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.state-step"),
        .version = BP_TEXT("1.0.0"),
        .components = components,
        .component_count = 1,
        .self_check = bp_check_self(),
        .lane_revision = 0xFFFFFFFF,
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
