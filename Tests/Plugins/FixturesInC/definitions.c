/* A communication controller that passes the calls of a contract on to a network service, and a serializer. */
#include "../fixture.h"

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("search")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("rate")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("between")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("greeting")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("all")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("send")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("photo")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("icon")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("forget")},
};
enum { METHODS = sizeof methods / sizeof *methods };
static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("service"), .contract = BP_TEXT("Pharmacies"),
    .contract_version = BP_TEXT("1.2.0"), .methods = methods, .method_count = METHODS}};

const bp_component pharmacy[] = {
    {.size = sizeof(bp_component), .role = BP_COMMUNICATION_CONTROLLER, .class_name = BP_TEXT("PharmacyInC"),
     .version = BP_TEXT("1.0.0"), .contract = BP_TEXT("Pharmacies"), .contract_version = BP_TEXT("1.2.0"),
     .methods = methods, .method_count = METHODS, .wires = wires, .wire_count = 1, .create = create_handles,
     .release = free, .call = pass_on},
    {0},
};

static const bp_method serialize[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("serialize")}};

/* The output is always `[{"id":1,"name":"C"}]`, in base64. */
static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    done(context, BP_OK, text("\"W3siaWQiOjEsIm5hbWUiOiJDIn1d\""));
}

const bp_component serializer[] = {
    {CLASS(BP_MANAGER, "SerializerInC", "Serializing"), .methods = serialize, .method_count = 1,
     .create = create_handles, .release = free, .call = call},
    {0},
};
