/* A library with many classes in C: each file has one or two, which this file lists. */
#define _GNU_SOURCE
#define FIXTURE_ID "org.backplane.tests.fixtures-in-c"
#include "../fixture.h"

#include <dlfcn.h>

static const bp_component *const lists[] = {
    again, authenticator, byte_state, caller, credentials, deep, editions, executor, filter, frames, graph,
    number_store, pharmacy, pipes, relay, routes, serializer,
};

/* With the setting `marks`, loading a copy creates a file beside it, with `.ran` after the copy's name. */
__attribute__((constructor)) static void ran(void) {
    Dl_info info;
    char name[4096];
    if (!setting("marks") || !dladdr((void *)ran, &info)) return;
    snprintf(name, sizeof name, "%s.ran", info.dli_fname);
    FILE *file = fopen(name, "w");
    if (file) fclose(file);
}

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    static bp_component components[32];
    if (bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX) == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    *answer = answer_with(lists, sizeof lists / sizeof *lists, components);
    return BP_OK;
}
