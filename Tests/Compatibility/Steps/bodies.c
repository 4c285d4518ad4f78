/* A plugin that uses what `backplane.bodies/1` added to ABI 0, and nothing that was added later.
 *
 * The component is an executor of its host: it answers every request with 200 and the request's own body, which it pulls and pushes
 * piece by piece, followed by a trailer field with the number of its bytes. */
#include "backplane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.bodies-step", "1.0.0")

static const bp_bodies_1 *bodies;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* ----------------------------------------------------------------------------------------------- the exchanges */

typedef struct exchange {
    struct exchange *other;
    uint64_t id, component;
    uint64_t body, response;        /* the numbers of both bodies; body 0: the request has none */
    uint64_t count;
    int is_headed, is_over;
    int owners;                     /* the pieces on their way, and the host until it has closed the stream */
    bp_done asked, closed;          /* the request for heads that was not answered, and that to close       */
    void *asker, *closer;
} exchange;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;    /* of all exchanges */
static exchange *exchanges;

/* Answers the request for heads: once with the head, then with the end. */
static void tell(exchange *own) {
    bp_done asked = NULL;
    void *asker = NULL;
    int is_head = 0;
    pthread_mutex_lock(&lock);
    if (own->asked && (!own->is_headed || own->is_over)) {
        asked = own->asked;
        asker = own->asker;
        own->asked = NULL;
        is_head = !own->is_headed;
        own->is_headed = 1;
    }
    pthread_mutex_unlock(&lock);
    if (!asked) return;
    if (is_head) asked(asker, BP_OK, text("[{\"status\": 200, \"version\": \"echo\", \"headers\": [[\"X-Echo\", \"1\"]]}]"));
    else asked(asker, BP_END, text(""));
}

static void leave(exchange *own) {
    exchange **place = &exchanges;
    pthread_mutex_lock(&lock);
    if (--own->owners > 0) {
        pthread_mutex_unlock(&lock);
        return;
    }
    while (*place != own) place = &(*place)->other;
    *place = own->other;
    pthread_mutex_unlock(&lock);
    own->closed(own->closer, BP_OK, text(""));
    free(own);
}

static void finish(exchange *own) {
    pthread_mutex_lock(&lock);
    own->is_over = 1;
    pthread_mutex_unlock(&lock);
    tell(own);
    leave(own);
}

static void pulled(void *context, int32_t status, bp_bytes chunk, const bp_pair *trailers, size_t count);

static void ended(void *context, int32_t status, bp_bytes payload) {
    (void)status, (void)payload;    /* what could not be pushed has no reader any more */
    finish(context);
}

static void pushed(void *context, int32_t status, bp_bytes payload) {
    exchange *own = context;
    if (status == BP_OK) bodies->pull(own->component, own->body, 60000, pulled, own);
    else ended(own, status, payload);
}

static void end_body(exchange *own) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)own->count);
    const bp_pair trailer = {BP_TEXT("X-Count"), text(digits)};
    bodies->push(own->component, own->response, text(""), &trailer, 1, ended, own);
}

static void pulled(void *context, int32_t status, bp_bytes chunk, const bp_pair *trailers, size_t count) {
    exchange *own = context;
    (void)trailers, (void)count;
    own->count += status == BP_OK ? chunk.length : 0;
    if (status != BP_OK) finish(own);
    else if (chunk.length == 0) end_body(own);
    else bodies->push(own->component, own->response, chunk, NULL, 0, pushed, own);
}

/* --------------------------------------------------------------------------------------------------- the stream */

/* Returns the number of a key of the order; 0 for none. */
static uint64_t number(bp_bytes order, const char *key) {
    char copy[4096] = {0};
    memcpy(copy, order.data, order.length < sizeof copy ? order.length : sizeof copy - 1);
    const char *place = strstr(copy, key);
    return place ? strtoull(place + strlen(key), NULL, 10) : 0;
}

static void open_exchange(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id) {
    exchange *own = calloc(1, sizeof *own);
    (void)method, (void)frame;
    own->id = id;
    own->component = *(uint64_t *)instance;
    own->body = number(input, "\"body\":");
    own->response = number(input, "\"response\":");
    own->owners = 2;
    pthread_mutex_lock(&lock);
    own->other = exchanges;
    exchanges = own;
    pthread_mutex_unlock(&lock);
    if (own->body) bodies->pull(own->component, own->body, 60000, pulled, own);
    else end_body(own);
}

static exchange *find(uint64_t id) {
    pthread_mutex_lock(&lock);
    exchange *own = exchanges;
    while (own->id != id) own = own->other;
    pthread_mutex_unlock(&lock);
    return own;
}

static void next_heads(void *instance, uint64_t id, uint32_t max, bp_done done, void *context) {
    exchange *own = find(id);
    (void)instance, (void)max;
    pthread_mutex_lock(&lock);
    own->asked = done;
    own->asker = context;
    pthread_mutex_unlock(&lock);
    tell(own);
}

static void close_exchange(void *instance, uint64_t id, bp_done done, void *context) {
    exchange *own = find(id);
    (void)instance;
    pthread_mutex_lock(&lock);
    own->closed = done;
    own->closer = context;
    bp_done asked = own->asked;
    own->asked = NULL;
    pthread_mutex_unlock(&lock);
    if (asked) asked(own->asker, BP_CANCELLED, text("the exchange was ended"));
    leave(own);
}

/* --------------------------------------------------------------------------------------------------- the plugin */

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    uint64_t *handle = malloc(sizeof *handle);
    (void)type;
    *handle = creation->handle;
    done(context, BP_OK, handle, text(""));
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    char bits[16];
    (void)instance, (void)method, (void)input, (void)frame, (void)id;
    snprintf(bits, sizeof bits, "%d", BP_EXECUTOR_STREAMED_UPLOADS | BP_EXECUTOR_RESPONSE_TRAILERS | BP_EXECUTOR_BACK_PRESSURE);
    done(context, BP_OK, text(bits));
}

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("capabilities")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("exchange")},
};

static const bp_component components[] = {
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("BodiesStep"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("HTTPExecuting"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = 2,
     .create = create, .release = free, .call = call, .open = open_exchange, .next = next_heads, .close = close_exchange},
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own, .abi = abi,
        .id = BP_TEXT("org.backplane.tests.bodies-step"), .version = BP_TEXT("1.0.0"), .components = components,
        .component_count = 1, .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    const bp_bytes id = BP_TEXT(BP_BODIES);
    bodies = offer->get_interface(id, 1);
    if (!bodies) return BP_UNIMPLEMENTED;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
