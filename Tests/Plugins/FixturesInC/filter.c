/* A filter and an observer of exchanges: the filter signs the head of every attempt, and the observer logs what it is
 * told. */
#include "../fixture.h"

enum { INTERESTS, REQUEST, ATTEMPT };
static const bp_method filter_methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("interests")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("request")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("attempt")},
};
static const bp_method observer_methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("observe")}};

/* The filter asks for the digest of the body, and signs with the first letters of it. */
static void sign(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
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
static void observe(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    if (log) log->write(((const handles *)self)->handle, BP_LOG_INFO, input, NULL, 0);
    done(context, BP_OK, text("null"));
}

const bp_component filter[] = {
    {CLASS(BP_MANAGER, "Signer", "ExchangeFiltering"), .methods = filter_methods, .method_count = 3,
     .create = create_handles, .release = free, .call = sign},
    {CLASS(BP_MANAGER, "ObserverInC", "ExchangeObserving"), .methods = observer_methods, .method_count = 1,
     .create = create_handles, .release = free, .call = observe},
    {0},
};
