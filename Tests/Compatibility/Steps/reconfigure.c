/* A plugin that uses what `bp_component.reconfigure` added to ABI 0, and nothing that was added later.
 *
 * A component has the colour of its configuration, {"colour": "…"}. A new configuration may have any colour but black. */
#include "backplane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.reconfigure-step", "1.0.0")

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

typedef struct {
    pthread_mutex_t lock;
    char colour[32];
    int number;
} component;

static int instances;

/* Copies the colour with its quotes; 0: there is none. */
static int read_colour(bp_bytes configuration, char colour[32]) {
    static const char key[] = "\"colour\":";
    const size_t length = sizeof key - 1;
    for (size_t i = 0; i + length < configuration.length; i++) {
        size_t end = i + length + 1;
        if (memcmp(configuration.data + i, key, length) != 0) continue;
        while (end < configuration.length && configuration.data[end] != '"') end++;
        if (end >= configuration.length || end - i - length + 2 > 32) return 0;
        memcpy(colour, configuration.data + i + length, end + 1 - i - length);
        colour[end + 1 - i - length] = 0;
        return 1;
    }
    return 0;
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    component *self = calloc(1, sizeof *self);
    (void)type;
    if (!self || !read_colour(creation->configuration, self->colour)) {
        free(self);
        done(context, BP_FAILED, NULL, text("the configuration has no colour"));
        return;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->number = ++instances;
    done(context, BP_OK, self, text(""));
}

static void reconfigure(void *instance, bp_bytes configuration, bp_done done, void *context) {
    component *self = instance;
    char colour[32];
    if (!read_colour(configuration, colour) || strcmp(colour, "\"black\"") == 0) {
        done(context, BP_FAILED, text("black is refused"));
        return;
    }
    pthread_mutex_lock(&self->lock);
    strcpy(self->colour, colour);
    pthread_mutex_unlock(&self->lock);
    done(context, BP_OK, text(""));
}

static void release(void *instance) {
    component *self = instance;
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static const bp_method methods[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("colour")},        /* null -> a text */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("number")},        /* null -> which instance of this library it is */
};

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    component *self = instance;
    char json[32];
    (void)input, (void)frame, (void)id;
    pthread_mutex_lock(&self->lock);
    if (method == 0) strcpy(json, self->colour);
    else snprintf(json, sizeof json, "%d", self->number);
    pthread_mutex_unlock(&self->lock);
    done(context, BP_OK, text(json));
}

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("ReconfigureStepManager"),
    .version = BP_TEXT("1.0.0"),
    .contract = BP_TEXT("ReconfigureStep"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .release = release,
    .call = call,
#ifndef PLAIN
    .reconfigure = reconfigure,
#endif
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.reconfigure-step"),
        .version = BP_TEXT("1.0.0"),
        .components = components,
        .component_count = 1,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
#ifdef PLAIN
    (void)reconfigure;
#endif
    memcpy(answer, &own, own.size);
    return BP_OK;
}
