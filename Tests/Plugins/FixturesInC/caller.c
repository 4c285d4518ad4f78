/* A manager that calls a collaborator through `backplane.calls/1`, and requests services that its role may not use. */
#include "../fixture.h"

static uint64_t handle, wire;

enum { FAIL, FAIL_NOW, WAIT, PATH, MISSING, NO_SUCH_WIRE, STORE, BEGIN, FIND, LIST, METHODS };
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fail")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("failNow")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("wait")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("path")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("missing")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("noSuchWire")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("store")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("begin")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("find")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("list")},
};
/* The methods that it needs of its collaborator, with the same numbers as its own first four methods. */
static const bp_method needed[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fail")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("failNow")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("wait")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("path")},
};
static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("trials"), .contract = BP_TEXT("Trials"),
    .contract_version = BP_TEXT("2.0.0"), .methods = needed, .method_count = sizeof needed / sizeof *needed}};

/* Ends a call that serves no other call; the outcome is written to the host's log. */
static void ended(void *context, int32_t status, bp_bytes payload) {
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    log->write(handle, BP_LOG_INFO, text(status == BP_RETIRED ? "its call ended: retired" : "its call ended otherwise"),
        NULL, 0);
}

/* A look-up ends with a call of `path` of the manager that was found, whose answer goes to the original caller. */
typedef struct { bp_done done; void *context; bp_call frame; } asker;
static void found(void *context, int32_t status, const bp_connection *connection, bp_bytes payload) {
    asker own = *(asker *)context;
    free(context);
    if (status != BP_OK) { own.done(own.context, status, payload); return; }
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    calls->call(handle, connection->wire, PATH, text("null"), &own.frame, own.done, own.context);
}
static void find(bp_bytes name, const bp_call *frame, bp_done done, void *context) {
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    asker *own = malloc(sizeof *own);
    own->done = done;
    own->context = context;
    own->frame = *frame;
    name.data++;            /* the input is a JSON string without escapes */
    name.length -= 2;
    calls->find(handle, name, wires, frame, found, own);
}

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    switch (method) {
    case BEGIN: {
        bp_call own = {.size = sizeof own};
        calls->call(handle, wire, WAIT, input, &own, ended, NULL);
        done(context, BP_OK, text("null"));
        return;
    }
    case FIND: find(input, frame, done, context); return;
    case LIST: calls->providers(handle, wires, done, context); return;
    case NO_SUCH_WIRE: calls->call(handle, wire + 1000, 0, input, frame, done, context); return;
    case STORE: {
        const bp_store_1 *store = get_interface(text(BP_STORE), 1);
        bp_store_change change = {.size = sizeof change, .kind = BP_STORE_SAVE, .collection = BP_TEXT("c"),
            .id = BP_TEXT("1"), .value = BP_TEXT("{}")};
        store->write(handle, &change, 1, done, context);
        return;
    }
    default: calls->call(handle, wire, method, input, frame, done, context);
    }
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    handle = creation->handle;
    wire = creation->wires[0].wire;
    create_handles(type, creation, done, context);
}

const bp_component caller[] = {
    {CLASS(BP_MANAGER, "Caller", "Caller"), .methods = methods, .method_count = METHODS, .wires = wires,
     .wire_count = 1, .create = create, .call = call},
    {0},
};
