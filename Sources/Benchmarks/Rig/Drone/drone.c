/* A small plugin in plain C of which hundreds of copies are loaded. Each copy of its library is a different plugin, because
 * the digits of the id in it are replaced. Its only class, a manager, has the id for a name. */
#include "backplane.h"

#include <string.h>

#define ID "org.backplane.drone-0000"

BP_IDENTITY(ID, "1.0.0")

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("add")},      /* any JSON -> the same JSON */
};

/* The manager has no state, so all its instances are this one. */
static char instance;

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    const bp_bytes nothing = {(const uint8_t *)"", 0};
    (void)type;
    (void)creation;
    done(context, BP_OK, &instance, nothing);
}

static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)self;
    (void)method;
    (void)frame;
    (void)id;
    done(context, BP_OK, input);
}

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT(ID),
    .version = BP_TEXT("1.0.0"),
    .contract = BP_TEXT("Tally"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .call = call,
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .abi = abi,
        .id = BP_TEXT(ID),
        .version = BP_TEXT("1.0.0"),
        .toolchain = BP_TEXT(__VERSION__),
        .components = components,
        .component_count = sizeof components / sizeof *components,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    own.size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
