/* A manager that returns its edition and the number of times it was asked to count. With the setting `edition.fails`,
 * every call fails. */
#include "../fixture.h"

static int counted;

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("edition")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("count")}};

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    char number[16];
    if (method == 1) snprintf(number, sizeof number, "%d", ++counted);
    done(context, setting("edition.fails") ? BP_FAILED : BP_OK, text(method == 1 ? number : edition()));
}

const bp_component editions[] = {
    {CLASS(BP_MANAGER, "Edition", "Editions"), .methods = methods, .method_count = 2, .create = create_handles,
     .release = free, .call = call},
    {0},
};
