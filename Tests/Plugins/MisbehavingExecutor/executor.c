/*
 * An executor in C that breaks the rules of `backplane.bodies/1`: the URL says which, and each exchange ends with the
 * answer to the mistake. One exchange at a time. Compiled while the tests run, with every warning.
 */
#include "backplane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.misbehaving-executor", "1.0.0")

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("capabilities")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("exchange")},
};

static bp_get_interface get_interface;
static uint8_t bytes[(256 << 10) + 1];      /* one more than a piece may have */

/* The answer to the mistake. */
static int32_t answered;
static char answer[512];

static bp_bytes text(const char *literal) {
    bp_bytes content = {(const uint8_t *)literal, strlen(literal)};
    return content;
}

static void note(void *context, int32_t status, bp_bytes payload) {
    (void)context;
    answered = status;
    snprintf(answer, sizeof answer, "%.*s", (int)payload.length, (const char *)payload.data);
}

static void note_piece(void *context, int32_t status, bp_bytes chunk, const bp_pair *trailers, size_t count) {
    (void)trailers, (void)count;
    note(context, status, chunk);
}

static void ignore(void *context, int32_t status, bp_bytes payload) { (void)context, (void)status, (void)payload; }

static void ignore_piece(void *context, int32_t status, bp_bytes chunk, const bp_pair *trailers, size_t count) {
    (void)context, (void)status, (void)chunk, (void)trailers, (void)count;
}

/* The number of a key of the order, which is trusted. */
static uint64_t number(const char *order, const char *key) {
    const char *place = strstr(order, key);
    return place ? strtoull(place + strlen(key), NULL, 10) : 0;
}

static void open_exchange(void *self, uint32_t method, bp_bytes input, const bp_call *call, uint64_t id) {
    (void)method, (void)call, (void)id;
    const bp_bodies_1 *bodies = get_interface(text(BP_BODIES), 1);
    const uint64_t handle = *(uint64_t *)self;
    const bp_bytes piece = {bytes, 10}, large = {bytes, sizeof bytes};
    char *order = calloc(1, input.length + 1);
    if (!order) abort();
    memcpy(order, input.data, input.length);
    const uint64_t request = number(order, "\"body\":"), response = number(order, "\"response\":");
    answered = BP_OK;
    answer[0] = 0;
    if (strstr(order, "misbehaving:push-twice")) {
        bodies->push(handle, response, piece, NULL, 0, ignore, NULL);
        bodies->push(handle, response, piece, NULL, 0, note, NULL);
    } else if (strstr(order, "misbehaving:push-large")) {
        bodies->push(handle, response, large, NULL, 0, note, NULL);
    } else if (strstr(order, "misbehaving:push-unknown")) {
        bodies->push(handle, 1, piece, NULL, 0, note, NULL);
    } else if (strstr(order, "misbehaving:push-foreign")) {
        bodies->push(handle, request, piece, NULL, 0, note, NULL);
    } else if (strstr(order, "misbehaving:push-late")) {
        bodies->push(handle, response, text(""), NULL, 0, ignore, NULL);
        bodies->push(handle, response, piece, NULL, 0, note, NULL);
    } else if (strstr(order, "misbehaving:pull-twice")) {
        bodies->pull(handle, request, 10, ignore_piece, NULL);
        bodies->pull(handle, request, 10, note_piece, NULL);
    } else if (strstr(order, "misbehaving:pull-unknown")) {
        bodies->pull(handle, 1, 10, note_piece, NULL);
    } else if (strstr(order, "misbehaving:pull-foreign")) {
        bodies->pull(handle, response, 10, note_piece, NULL);
    }
    free(order);
}

static void next_heads(void *self, uint64_t id, uint32_t max, bp_done done, void *context) {
    (void)self, (void)id, (void)max;
    done(context, answered == BP_OK ? BP_END : answered, text(answer));
}

static void close_exchange(void *self, uint64_t id, bp_done done, void *context) {
    (void)self, (void)id;
    done(context, BP_OK, text(""));
}

static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)self, (void)method, (void)input, (void)frame, (void)id;
    char capabilities[16];
    snprintf(capabilities, sizeof capabilities, "%d", BP_EXECUTOR_STREAMED_UPLOADS);
    done(context, BP_OK, text(capabilities));
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    (void)type;
    uint64_t *handle = malloc(sizeof *handle);
    if (!handle) abort();
    *handle = creation->handle;
    done(context, BP_OK, handle, text(""));
}

static bp_component components[] = {
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("MisbehavingExecutor"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("HTTPExecuting"), .contract_version = BP_TEXT("1.0.0"), .methods = methods,
     .method_count = sizeof methods / sizeof *methods, .create = create, .release = free, .call = call,
     .open = open_exchange, .next = next_heads, .close = close_exchange},
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *own) {
    const bp_answer given = {
        .size = sizeof given, .abi = BP_ABI_MAX, .id = BP_TEXT("org.backplane.tests.misbehaving-executor"), .version = BP_TEXT("1.0.0"),
        .components = components, .component_count = 1, .self_check = bp_check_self()};
    get_interface = offer->get_interface;
    *own = given;
    return BP_OK;
}
