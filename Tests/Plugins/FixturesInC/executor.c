/* An executor that answers each request with the request's body, or with 204 if there is no body. */
#define _GNU_SOURCE
#include "../fixture.h"

#include <pthread.h>

enum { CAPABILITIES, EXCHANGE };
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("capabilities")},
    {sizeof(bp_method), BP_STREAM, BP_TEXT("exchange")},
};

/* An exchange: the elements that have not been sent, the last one first. */
typedef struct exchange {
    struct exchange *other;
    uint64_t id;
    int count;
    char *elements[2];
} exchange;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static exchange *exchanges;

/* The place of the pointer to an exchange; the lock is held. */
static exchange **place(uint64_t id) {
    exchange **at = &exchanges;
    while ((*at)->id != id) at = &(*at)->other;
    return at;
}

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    done(context, BP_OK, text("4"));        /* BP_EXECUTOR_CONTENT_IN_GET */
}

static void open_exchange(void *self, uint32_t method, bp_bytes order, const bp_call *frame, uint64_t id) {
    static const char key[] = "\"body\":\"";
    exchange *own = calloc(1, sizeof *own);
    const uint8_t *body = memmem(order.data, order.length, key, sizeof key - 1);
    own->id = id;
    if (body) {
        const char *start = (const char *)body + sizeof key - 1;
        const size_t length = (size_t)((const char *)memchr(start, '"', order.length) - start);
        /* The only character of Base64 that JSON escapes is the solidus, which is copied with its escape. */
        own->elements[own->count] = malloc(length + 16);
        sprintf(own->elements[own->count++], "[{\"body\":\"%.*s\"}]", (int)length, start);
    }
    own->elements[own->count++] = strdup(body ? "[{\"status\":200,\"headers\":[]}]" : "[{\"status\":204,\"headers\":[]}]");
    pthread_mutex_lock(&lock);
    own->other = exchanges;
    exchanges = own;
    pthread_mutex_unlock(&lock);
}

static void next_part(void *self, uint64_t id, uint32_t max, bp_done done, void *context) {
    pthread_mutex_lock(&lock);
    exchange *own = *place(id);
    char *element = own->count ? own->elements[--own->count] : NULL;
    pthread_mutex_unlock(&lock);
    done(context, element ? BP_OK : BP_END, text(element ? element : ""));
    free(element);
}

static void close_exchange(void *self, uint64_t id, bp_done done, void *context) {
    pthread_mutex_lock(&lock);
    exchange **at = place(id), *own = *at;
    *at = own->other;
    pthread_mutex_unlock(&lock);
    while (own->count) free(own->elements[--own->count]);
    free(own);
    done(context, BP_OK, text(""));
}

const bp_component executor[] = {
    {CLASS(BP_MANAGER, "ExecutorInC", "HTTPExecuting"), .methods = methods, .method_count = 2,
     .create = create_handles, .release = free, .call = call, .open = open_exchange, .next = next_part,
     .close = close_exchange},
    {0},
};
