/* A manager that makes forbidden requests, and returns the host's answers: it requests the network and the store, and
 * uses other components' handles. */
#include "../../fixture.h"

#include <inttypes.h>

enum { HTTP, WRITE, QUERY, CALL, LOG };

/* The input is the identity to use: "itself", "nobody" or "a stranger". The output is {"status": number, "text": text},
 * with ' for "; the output of `log` is whether the host would write a critical line. */
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("http")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("write")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("query")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("call")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("log")},
};

static uint64_t asker(uint64_t itself, bp_bytes input) {
    const bp_bytes nobody = BP_TEXT("\"nobody\""), stranger = BP_TEXT("\"a stranger\"");
    if (input.length == nobody.length && memcmp(input.data, nobody.data, nobody.length) == 0) return 0;
    if (input.length == stranger.length && memcmp(input.data, stranger.data,
        stranger.length) == 0) return itself + 1000000;
    return itself;
}

/* The call that receives the host's answer. */
typedef struct asked {
    bp_done done;
    void *context;
} asked;

static void told(void *context, int32_t status, bp_bytes payload) {
    asked *to = context;
    char said[512], json[640];
    size_t length = payload.length < sizeof said ? payload.length : sizeof said - 1;
    for (size_t i = 0; i < length; i++) said[i] = payload.data[i] == '"' || payload.data[i] == '\\' ? '\'' :
        (char)payload.data[i];
    said[length] = 0;
    snprintf(json, sizeof json, "{\"status\": %" PRId32 ", \"text\": \"%s\"}", status, said);
    to->done(to->context, BP_OK, text(json));
    free(to);
}

static void told_response(void *context, int32_t status, const bp_http_response *response, bp_bytes payload) {
    told(context, status, payload);
}

static void told_records(
    void *context, int32_t status, const bp_record *records, size_t record_count, uint64_t total, bp_bytes payload) {
    told(context, status, payload);
}

static void call(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const uint64_t handle = asker(((const handles *)instance)->handle, input);
    asked *to = malloc(sizeof *to);
    to->done = done;
    to->context = context;
    switch (method) {
    case HTTP: {
        const bp_http_1 *http = get_interface(text(BP_HTTP), 1);
        const bp_http_request request = {.size = sizeof request, .method = BP_TEXT("GET"),
            .url = BP_TEXT("file:manifest")};
        http->send(handle, &request, frame, told_response, to);
        return;
    }
    case WRITE: {
        const bp_store_1 *store = get_interface(text(BP_STORE), 1);
        const bp_store_change change = {.size = sizeof change, .kind = BP_STORE_DELETE_ALL,
            .collection = BP_TEXT("books")};
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

const bp_component trespasser[] = {
    {CLASS(BP_MANAGER, "Trespasser", "Trespassing"), .methods = methods,
     .method_count = sizeof methods / sizeof *methods, .create = create_handles, .release = free, .call = call},
    {0},
};
