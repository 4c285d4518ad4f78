/* Thousands of component classes in plain C, with which the cost of many components is measured.
 *
 *   CrowdManager0000 to 0999          1.0.0; uses its controllers, and optionally another manager as `previous`
 *   CrowdStore0000 to 0999            1.0.0; a data access controller
 *   CrowdCommunication0000 to 0999    1.0.0; its properties are `current`, of CrowdAPI 2.0, and `former`, of CrowdAPI 1.0
 *   CrowdService0000 to 0999          1.0.0, 1.4.0 and 2.1.0, with a CrowdAPI of the same version
 */
#include "backplane.h"

#include <stdio.h>
#include <string.h>

/* The number of classes of each kind. */
enum { CROWD_SIZE = 1000 };

BP_IDENTITY("org.backplane.crowd", "1.0.0")

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("next")},     /* Int -> the same Int */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("count")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("find")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("keep")},
};

#define WIRE(name, contract_name, lowest, how) { \
    .size = sizeof(bp_wire), .flags = how, .label = BP_TEXT(name), .contract = BP_TEXT(contract_name), \
    .contract_version = BP_TEXT(lowest), .methods = methods, .method_count = COUNT(methods)}

static const bp_wire manager_wires[] = {
    WIRE("dataAccessController", "CrowdRecords", "1.0.0", 0),
    WIRE("communicationController", "CrowdNetwork", "1.0.0", 0),
    WIRE("previous", "Crowd", "1.1.0", BP_WIRE_OPTIONAL),
};
static const bp_wire communication_wires[] = {
    WIRE("current", "CrowdAPI", "2.0.0", 0),
    WIRE("former", "CrowdAPI", "1.0.0", 0),
};

/* The properties in which the kinds of classes differ. */
static const struct kind {
    uint32_t role;
    const char *stem;
    bp_bytes version, contract, contract_version;
    const bp_wire *wires;
    size_t wire_count;
} kinds[] = {
    {BP_MANAGER, "CrowdManager", BP_TEXT("1.0.0"), BP_TEXT("Crowd"), BP_TEXT("1.2.0"), manager_wires, COUNT(manager_wires)},
    {BP_DATA_ACCESS_CONTROLLER, "CrowdStore", BP_TEXT("1.0.0"), BP_TEXT("CrowdRecords"), BP_TEXT("1.0.0"), NULL, 0},
    {BP_COMMUNICATION_CONTROLLER, "CrowdCommunication", BP_TEXT("1.0.0"), BP_TEXT("CrowdNetwork"), BP_TEXT("1.0.0"), communication_wires,
     COUNT(communication_wires)},
    {BP_NETWORK_SERVICE, "CrowdService", BP_TEXT("1.0.0"), BP_TEXT("CrowdAPI"), BP_TEXT("1.0.0"), NULL, 0},
    {BP_NETWORK_SERVICE, "CrowdService", BP_TEXT("1.4.0"), BP_TEXT("CrowdAPI"), BP_TEXT("1.4.0"), NULL, 0},
    {BP_NETWORK_SERVICE, "CrowdService", BP_TEXT("2.1.0"), BP_TEXT("CrowdAPI"), BP_TEXT("2.1.0"), NULL, 0},
};

static char names[COUNT(kinds)][CROWD_SIZE][32];
static bp_component components[CROWD_SIZE * COUNT(kinds)];

static bp_bytes text(const char *literal) {
    bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* The components have no state, so all their instances are this one. */
static char instance;

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    (void)type;
    (void)creation;
    done(context, BP_OK, &instance, text(""));
}

static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)self;
    (void)method;
    (void)frame;
    (void)id;
    done(context, BP_OK, input);
}

/* Accepts every configuration. */
static void review(void *type, bp_bytes configuration, bp_done done, void *context) {
    (void)type;
    (void)configuration;
    done(context, BP_OK, text("[]"));
}

static void describe(bp_component *component, const struct kind *kind, char name[32], int number) {
    snprintf(name, 32, "%s%04d", kind->stem, number);
    *component = (bp_component){
        .size = sizeof(bp_component),
        .role = kind->role,
        .class_name = text(name),
        .version = kind->version,
        .contract = kind->contract,
        .contract_version = kind->contract_version,
        .methods = methods,
        .method_count = COUNT(methods),
        .wires = kind->wires,
        .wire_count = kind->wire_count,
        .create = create,
        .call = call,
        .review = review,
    };
}

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .abi = abi,
        .id = BP_TEXT("org.backplane.crowd"),
        .version = BP_TEXT("1.0.0"),
        .toolchain = BP_TEXT(__VERSION__),
        .components = components,
        .component_count = COUNT(components),
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        for (int number = 0; number < CROWD_SIZE; number++) {
            describe(&components[kind * CROWD_SIZE + (size_t)number], &kinds[kind], names[kind][number], number);
        }
    }
    own.size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
