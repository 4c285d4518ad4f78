/* A manager in plain C that goes where managers may not: it asks for the network, for the store, and under handles that are not
 * its own, and answers with what it was told. */
#include "backplane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.trespasser", "1.0.0")

enum { HTTP, WRITE, QUERY, CALL, LOG };

/* Each takes whom to ask as, "itself", "nobody" or "a stranger", and gives {"status": number, "text": text}, with ' for ";
 * `log` gives whether the host would write a critical line. */
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("http")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("write")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("query")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("call")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("log")},
};

static bp_get_interface get_interface;

static bp_bytes text(const char *literal) {
    bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

static uint64_t asker(uint64_t itself, bp_bytes input) {
    const bp_bytes nobody = BP_TEXT("\"nobody\""), stranger = BP_TEXT("\"a stranger\"");
    if (input.length == nobody.length && memcmp(input.data, nobody.data, nobody.length) == 0) return 0;
    if (input.length == stranger.length && memcmp(input.data, stranger.data, stranger.length) == 0) return itself + 1000000;
    return itself;
}

/* Whom to tell what the host said. */
typedef struct caller {
    bp_done done;
    void *context;
} caller;

static void told(void *context, int32_t status, bp_bytes payload) {
    caller *to = context;
    char said[512], json[640];
    size_t length = payload.length < sizeof said ? payload.length : sizeof said - 1;
    for (size_t i = 0; i < length; i++) said[i] = payload.data[i] == '"' || payload.data[i] == '\\' ? '\'' : (char)payload.data[i];
    said[length] = 0;
    snprintf(json, sizeof json, "{\"status\": %" PRId32 ", \"text\": \"%s\"}", status, said);
    to->done(to->context, BP_OK, text(json));
    free(to);
}

static void told_response(void *context, int32_t status, const bp_http_response *response, bp_bytes payload) {
    (void)response;
    told(context, status, payload);
}

static void told_records(void *context, int32_t status, const bp_record *records, size_t record_count, uint64_t total, bp_bytes payload) {
    (void)records;
    (void)record_count;
    (void)total;
    told(context, status, payload);
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    uint64_t *handle = malloc(sizeof *handle);
    (void)type;
    *handle = creation->handle;
    done(context, BP_OK, handle, text(""));
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const uint64_t handle = asker(*(uint64_t *)instance, input);
    caller *to = malloc(sizeof *to);
    (void)id;
    to->done = done;
    to->context = context;
    switch (method) {
    case HTTP: {
        const bp_http_1 *http = get_interface(text(BP_HTTP), 1);
        const bp_http_request request = {.size = sizeof request, .method = BP_TEXT("GET"), .url = BP_TEXT("file:manifest")};
        http->send(handle, &request, frame, told_response, to);
        return;
    }
    case WRITE: {
        const bp_store_1 *store = get_interface(text(BP_STORE), 1);
        const bp_store_change change = {.size = sizeof change, .kind = BP_STORE_DELETE_ALL, .collection = BP_TEXT("books")};
        store->write(handle, &change, 1, told, to);
        return;
    }
    case QUERY: {
        const bp_store_1 *store = get_interface(text(BP_STORE), 1);
        const bp_store_query query = {.size = sizeof query, .collection = BP_TEXT("books")};
        store->query(handle, &query, told_records, to);
        return;
    }
    case CALL: {
        const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
        calls->call(handle, 1, 0, text("null"), frame, told, to);
        return;
    }
    default: {
        const bp_log_1 *log = get_interface(text(BP_LOG), 1);
        log->write(handle, BP_LOG_CRITICAL, text("a trespasser was here"), NULL, 0);
        done(context, BP_OK, text(log->is_enabled(handle, BP_LOG_CRITICAL) ? "true" : "false"));
        free(to);
    }
    }
}

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("Trespasser"),
    .version = BP_TEXT("1.0.0"),
    .contract = BP_TEXT("Trespassing"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .release = free,
    .call = call,
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.trespasser"),
        .version = BP_TEXT("1.0.0"),
        .toolchain = BP_TEXT(__VERSION__),
        .components = components,
        .component_count = sizeof components / sizeof *components,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    own.size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
