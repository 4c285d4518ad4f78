/*
 * A filter and an observer of exchanges in C: the filter signs the head of every attempt, and the observer logs what it
 * is told. Compiled while the tests run, with every warning.
 */
#include "backplane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.filter-in-c", "1.0.0")

enum { INTERESTS, REQUEST, ATTEMPT };
static const bp_method filter_methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("interests")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("request")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("attempt")},
};
static const bp_method observer_methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("observe")}};

static bp_get_interface get_interface;

static bp_bytes text(const char *literal) {
    bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* The filter asks for the digest of the body, and signs with the first letters of it. */
static void filter(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)self, (void)frame, (void)id;
    static const char key[] = "\"digest\":\"";
    char answer[64];
    const uint8_t *digest = NULL;
    switch (method) {
    case INTERESTS:
        snprintf(answer, sizeof answer, "%d", BP_FILTER_ATTEMPTS | BP_FILTER_DIGEST);
        done(context, BP_OK, text(answer));
        return;
    case REQUEST:               /* is not called, since it is none of the interests */
        done(context, BP_ERROR, text("{\"code\": \"sentry.asked\", \"message\": \"nobody may ask for this\"}"));
        return;
    default:
        for (size_t i = 0; i + sizeof key + 8 <= input.length && !digest; i++)
            if (memcmp(input.data + i, key, sizeof key - 1) == 0) digest = input.data + i + sizeof key - 1;
        if (!digest) {
            done(context, BP_ERROR, text("{\"code\": \"sentry.undigested\", \"message\": \"there is no digest\"}"));
            return;
        }
        snprintf(answer, sizeof answer, "[[\"Signature\", \"%.8s\"]]", (const char *)digest);
        done(context, BP_OK, text(answer));
    }
}

/* The observer writes its batches to the log, and answers at once. */
static void observe(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)method, (void)frame, (void)id;
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    if (log) log->write(*(uint64_t *)self, BP_LOG_INFO, input, NULL, 0);
    done(context, BP_OK, text("null"));
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    (void)type;
    uint64_t *handle = malloc(sizeof *handle);
    if (!handle) abort();
    *handle = creation->handle;
    done(context, BP_OK, handle, text(""));
}

static void release(void *instance) { free(instance); }

static bp_component components[] = {
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("Signer"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("ExchangeFiltering"), .contract_version = BP_TEXT("1.0.0"), .methods = filter_methods,
     .method_count = 3, .create = create, .release = release, .call = filter},
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("ObserverInC"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("ExchangeObserving"), .contract_version = BP_TEXT("1.0.0"), .methods = observer_methods,
     .method_count = 1, .create = create, .release = release, .call = observe},
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    bp_answer own = {
        .size = sizeof own, .abi = BP_ABI_MAX, .id = BP_TEXT("org.backplane.tests.filter-in-c"), .version = BP_TEXT("1.0.0"),
        .components = components, .component_count = 2, .self_check = bp_check_self()};
    get_interface = offer->get_interface;
    *answer = own;
    return BP_OK;
}
