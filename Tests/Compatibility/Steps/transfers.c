/* A plugin that uses what `backplane.transfers/1` added to ABI 0, and nothing that was added later.
 *
 * A communication controller has the host download a file to its folder, follows that to the end, and says what the last state was. */
#include "backplane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.transfers-step", "1.0.0")

static bp_get_interface get_interface;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* The text in a JSON string without escapes. */
static bp_bytes unquoted(bp_bytes json) {
    if (json.length < 2 || json.data[0] != '"') return text("");
    json.data += 1;
    json.length -= 2;
    return json;
}

enum { FETCH, SEND, PAUSE, ESCAPE };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fetch")},    /* url -> the last state                               */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("send")},     /* url -> the last state of an upload in two pieces    */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("pause")},    /* id -> null                                          */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("escape")},   /* url -> an error: the file is not in the folder      */
};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct {
    uint64_t handle;
} client;

/* A transfer that is followed to its end. */
typedef struct {
    client *self;
    bp_done done;
    void *context;
    char id[64];
} call_state;

static const bp_transfers_1 *transfers(void) {
    return get_interface(text(BP_TRANSFERS), 1);
}

/* Finds a text in another one that has no terminating zero. */
static const char *find(bp_bytes in, const char *what) {
    const size_t length = strlen(what);
    for (size_t at = 0; at + length <= in.length; at++)
        if (memcmp(in.data + at, what, length) == 0) return (const char *)in.data + at + length;
    return NULL;
}

static void followed(void *context, int32_t status, bp_bytes payload) {
    call_state *own = context;
    const char *number = status == BP_OK ? find(payload, "\"number\":") : NULL;
    const int is_over = status != BP_OK || !number || find(payload, "\"phase\":\"succeeded\"") || find(payload, "\"phase\":\"failed\"");
    if (!is_over) {
        char digits[24] = "";
        for (size_t at = 0; at + 1 < sizeof digits && number[at] >= '0' && number[at] <= '9'; at++) digits[at] = number[at];
        transfers()->state(own->self->handle, text(own->id), strtoull(digits, NULL, 10), NULL, followed, own);
        return;
    }
    own->done(own->context, status, payload);
    free(own);
}

static void changed(void *context, int32_t status, bp_bytes payload) {
    call_state *own = context;
    own->done(own->context, status, status == BP_OK ? text("null") : payload);
    free(own);
}

static void call_client(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    call_state *own = calloc(1, sizeof *own);
    (void)id;
    if (!own) {
        done(context, BP_FAILED, text("there is no memory"));
        return;
    }
    own->self = instance;
    own->done = done;
    own->context = context;
    snprintf(own->id, sizeof own->id, "parcel %" PRIu32, method);
    if (method == PAUSE) {
        transfers()->change(own->self->handle, unquoted(input), BP_TRANSFER_PAUSE, frame, changed, own);
        return;
    }
    const bp_http_request request = {
        .size = sizeof request, .method = text(method == SEND ? "PUT" : "GET"), .url = unquoted(input)};
    const bp_transfer_piece pieces[] = {
        {sizeof(bp_transfer_piece), BP_TRANSFER_BYTES, BP_TEXT("two ")},
        {sizeof(bp_transfer_piece), BP_TRANSFER_BYTES, BP_TEXT("pieces")},
    };
    const bp_transfer transfer = {
        .size = sizeof transfer, .existing = BP_EXISTING_NUMBER, .id = text(own->id), .request = &request,
        .pieces = method == SEND ? pieces : NULL, .piece_count = method == SEND ? 2 : 0,
        .download = text(method == FETCH ? "parcel.txt" : method == ESCAPE ? "../parcel.txt" : "")};
    transfers()->begin(own->self->handle, &transfer, frame, followed, own);
}

static void create_client(void *type, const bp_creation *creation, bp_created done, void *context) {
    client *self = calloc(1, sizeof *self);
    (void)type;
    if (!self) {
        done(context, BP_FAILED, NULL, text("there is no memory"));
        return;
    }
    self->handle = creation->handle;
    done(context, BP_OK, self, text(""));
}

/* The manager, which passes everything on. */

typedef struct {
    uint64_t handle, wire;
} dispatcher;

static void create_dispatcher(void *type, const bp_creation *creation, bp_created done, void *context) {
    dispatcher *self = calloc(1, sizeof *self);
    (void)type;
    if (!self || creation->wire_count != 1) {
        free(self);
        done(context, BP_FAILED, NULL, text("there is no controller"));
        return;
    }
    self->handle = creation->handle;
    self->wire = creation->wires[0].wire;
    done(context, BP_OK, self, text(""));
}

static void call_dispatcher(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const dispatcher *self = instance;
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    (void)id;
    if (method == PAUSE && find(input, "mine")) {    /* no manager has transfers */
        transfers()->state(self->handle, text("parcel"), 0, frame, done, context);
        return;
    }
    calls->call(self->handle, self->wire, method, input, frame, done, context);
}

static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("communicationController"), .contract = BP_TEXT("TransfersStep"),
    .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS}};

static const bp_component components[] = {
    {.size = sizeof(bp_component), .role = BP_COMMUNICATION_CONTROLLER, .class_name = BP_TEXT("TransfersStepCommunication"),
     .version = BP_TEXT("1.0.0"), .contract = BP_TEXT("TransfersStep"), .contract_version = BP_TEXT("1.0.0"), .methods = methods,
     .method_count = METHODS, .create = create_client, .release = free, .call = call_client},
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("TransfersStepManager"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("TransfersStep"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS,
     .wires = wires, .wire_count = 1, .create = create_dispatcher, .release = free, .call = call_dispatcher},
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.transfers-step"),
        .version = BP_TEXT("1.0.0"),
        .components = components,
        .component_count = sizeof components / sizeof *components,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
