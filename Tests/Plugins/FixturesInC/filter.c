/* Two interceptors of exchanges: one signs the head of every attempt, and the other logs events. */
#include "../fixture.h"

enum { INTERESTS, REQUEST, ATTEMPT, EVENTS };
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("interests")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("request")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("attempt")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("events")},
};

/* The signer requests the digest of the body, and signs with the first letters of the digest. */
static void sign(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    static const char key[] = "\"digest\":\"";
    char answer[64];
    const uint8_t *digest = NULL;
    switch (method) {
    case INTERESTS:
        snprintf(answer, sizeof answer, "%d", BP_INTERCEPT_ATTEMPTS | BP_INTERCEPT_DIGEST);
        done(context, BP_OK, text(answer));
        return;
    case REQUEST:               /* never called, because it is not among the interests */
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

/* The other interceptor writes its batches to the log, and answers immediately. */
static void observe(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    if (method == INTERESTS) {
        char answer[16];
        snprintf(answer, sizeof answer, "%d", BP_INTERCEPT_EVENTS);
        done(context, BP_OK, text(answer));
        return;
    }
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    if (log) log->write(((const handles *)self)->handle, BP_LOG_INFO, input, NULL, 0);
    done(context, BP_OK, text("null"));
}

const bp_component filter[] = {
    {CLASS(BP_MANAGER, "Signer", "Intercepting"), .methods = methods, .method_count = 4,
     .create = create_handles, .release = free, .call = sign},
    {CLASS(BP_MANAGER, "ObserverInC", "Intercepting"), .methods = methods, .method_count = 4,
     .create = create_handles, .release = free, .call = observe},
    {0},
};
