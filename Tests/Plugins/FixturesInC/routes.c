/* A manager that serves HTTP: its annotation lists its route. */
#include "../fixture.h"

static const bp_method methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("answer")}};

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    done(context, BP_OK, text("{\"status\": 204}"));
}

const bp_component routes[] = {
    {CLASS(BP_MANAGER, "RoutesInC", "HTTPRoutes"), .methods = methods, .method_count = 1, .create = create_handles,
     .release = free, .call = call,
     .annotation = BP_TEXT(
         "{\"routes\": [{\"method\": \"GET\", \"path\": \"/clock/:zone\", \"kind\": \"answer\"}]}")},
    {0},
};
