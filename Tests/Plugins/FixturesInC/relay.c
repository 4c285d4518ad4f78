/* A manager with the contract of a counter, which forwards every call to a counter. */
#include "../fixture.h"

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("add")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("edition")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("sumNow")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("editionNow")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("act")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("actNow")},
};
enum { METHODS = sizeof methods / sizeof *methods };
static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("counter"), .contract = BP_TEXT("Counting"),
    .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS}};

const bp_component relay[] = {
    {CLASS(BP_MANAGER, "Relay", "Counting"), .methods = methods, .method_count = METHODS, .wires = wires,
     .wire_count = 1, .create = create_handles, .release = free, .call = pass_on},
    {0},
};
