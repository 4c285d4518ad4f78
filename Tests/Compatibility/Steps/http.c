/* A plugin that uses what `backplane.http/2` added to ABI 0, and nothing that was added later.
 *
 * A communication controller fetches, downloads to a file of its own with progress, and delivers what it makes while it is sent. */
#include "backplane.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EDITION
#define EDITION "1"
#endif

BP_IDENTITY("org.backplane.tests.http-step", EDITION ".0.0")

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

enum { FETCH, DOWNLOAD, DELIVER, DELIVER_SHORT, DELIVER_NOTHING, DELIVER_NEVER, LEAVE, ASK_TOO_MUCH, ASK_BADLY, EDITION_OF };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fetch")},            /* url -> what was read, piece by piece             */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("download")},         /* url -> the progress while it went to a file      */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("deliver")},          /* url -> what was sent: a million bytes, in pieces */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("deliverShort")},    /* url -> an error: less than was announced         */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("deliverNothing")},  /* url -> an error: the source fails                */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("deliverNever")},    /* url -> an error: the source answers when it must */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("leave")},            /* url -> an error: the response is never read      */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("askTooMuch")},     /* the name of an option -> an error                */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("askBadly")},         /* a part of a request -> an error                 */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},           /* null -> a number                                 */
};
enum { METHODS = sizeof methods / sizeof *methods };

/* MARK: The controller */

typedef struct {
    uint64_t handle;
} client;

/* One exchange, and the source of its body. It ends when both have. */
typedef struct {
    pthread_mutex_t lock;
    client *self;
    bp_done done;
    void *context;
    uint32_t method;
    int owners;                     /* the exchange and the source                 */
    uint32_t status, number, reports;
    uint64_t exchange, received, left, sum;
    int64_t to_receive;
    int in_order;                   /* whether every report says more than the last */
    bp_chunk owed;                  /* the piece that the source was asked for      */
    void *owed_context;
    int32_t ending;
    char reason[512];
} call_state;

enum { ALL = 1000000, PIECE = 60000 };

static const bp_http_2 *http(void) {
    return get_interface(text(BP_HTTP), 2);
}

static void leave(call_state *own) {
    char json[256];
    pthread_mutex_lock(&own->lock);
    const int owners = --own->owners;
    pthread_mutex_unlock(&own->lock);
    if (owners > 0) return;
    if (own->ending == BP_OK) {
        snprintf(json, sizeof json,
                 "{\"status\": %" PRIu32 ", \"received\": %" PRIu64 ", \"sum\": %" PRIu64 ", \"reports\": %" PRIu32
                 ", \"announced\": %" PRId64 ", \"inOrder\": %s, \"left\": %" PRIu64 "}",
                 own->status, own->received, own->sum, own->reports, own->to_receive, own->in_order ? "true" : "false", own->left);
        own->done(own->context, BP_OK, text(json));
    } else {
        own->done(own->context, own->ending, text(own->reason));
    }
    pthread_mutex_destroy(&own->lock);
    free(own);
}

static void piece(void *context, int32_t status, bp_bytes chunk, const bp_pair *trailers, size_t trailer_count) {
    call_state *own = context;
    (void)trailers, (void)trailer_count;
    if (status != BP_OK || chunk.length == 0) return;    /* `ended` follows */
    for (size_t index = 0; index < chunk.length; index++) own->sum += chunk.data[index];
    own->received += chunk.length;
    http()->read(own->self->handle, own->exchange, own->number, PIECE, piece, own);
}

static void headed(void *context, const bp_http_head *head) {
    call_state *own = context;
    if (head->kind != BP_HTTP_FINAL) return;
    own->status = head->status;
    own->exchange = head->exchange;
    own->number = head->number;
    if (own->method == DOWNLOAD || own->method == LEAVE) return;
    http()->read(own->self->handle, own->exchange, own->number, PIECE, piece, own);
}

static void progressed(void *context, const bp_http_progress *progress) {
    call_state *own = context;
    if (own->method != DOWNLOAD) return;
    pthread_mutex_lock(&own->lock);
    if (own->reports > 0 && (uint64_t)progress->received <= own->received) own->in_order = 0;
    own->reports++;
    own->received = (uint64_t)progress->received;
    own->to_receive = progress->to_receive;
    pthread_mutex_unlock(&own->lock);
}

static void ended(void *context, int32_t status, bp_bytes payload) {
    call_state *own = context;
    own->ending = status;
    snprintf(own->reason, sizeof own->reason, "%.*s", (int)payload.length, (const char *)payload.data);
    leave(own);
}

static void pull(void *context, uint64_t max, bp_chunk done, void *done_context) {
    static uint8_t bytes[PIECE];
    call_state *own = context;
    switch (own->method) {
    case DELIVER_NOTHING: done(done_context, BP_FAILED, text("the source failed"), NULL, 0); return;
    case DELIVER_NEVER:
        pthread_mutex_lock(&own->lock);
        own->owed = done;
        own->owed_context = done_context;
        pthread_mutex_unlock(&own->lock);
        return;
    default: break;
    }
    uint64_t count = own->left < PIECE ? own->left : PIECE;
    if (count > max) count = max;
    own->left -= count;
    const bp_bytes chunk = {bytes, (size_t)count};
    done(done_context, BP_OK, chunk, NULL, 0);
}

static void rewind_source(void *context, bp_done done, void *done_context) {
    call_state *own = context;
    own->left = ALL;
    done(done_context, BP_OK, text(""));
}

static void cancel_pull(void *context) {
    call_state *own = context;
    pthread_mutex_lock(&own->lock);
    const bp_chunk owed = own->owed;
    void *owed_context = own->owed_context;
    own->owed = NULL;
    pthread_mutex_unlock(&own->lock);
    if (owed) owed(owed_context, BP_CANCELLED, text("given up"), NULL, 0);
}

static void release_source(void *context) {
    call_state *own = context;
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    if (log) log->write(own->self->handle, BP_LOG_INFO, text("source released"), NULL, 0);
    leave(own);
}

static int is(bp_bytes given, const char *word) {
    return given.length == strlen(word) && memcmp(given.data, word, given.length) == 0;
}

/* A request, of which one part is not UTF-8: `method`, `url`, or the `name` or `value` of its field. */
static bp_http_request bad_request(bp_bytes part, bp_pair *field) {
    const bp_http_request request = {
        .size = sizeof request, .method = text(is(part, "method") ? "G\xC9T" : "GET"),
        .url = text(is(part, "url") ? "http://books.test/caf\xE9" : "http://books.test/"), .headers = field, .header_count = 1};
    field->name = text(is(part, "name") ? "X-\xC9" : "X-A");
    field->value = text(is(part, "value") ? "caf\xE9" : "b");
    return request;
}

static void begin(client *self, uint32_t method, bp_bytes input, const bp_call *frame, bp_done done, void *context) {
    call_state *own = calloc(1, sizeof *own);
    const bp_bytes given = unquoted(input);
    const bp_pair named[] = {{given, BP_TEXT("on")}};
    const int delivers = method >= DELIVER && method <= DELIVER_NEVER;
    if (!own) {
        done(context, BP_FAILED, text("no memory"));
        return;
    }
    pthread_mutex_init(&own->lock, NULL);
    own->self = self;
    own->done = done;
    own->context = context;
    own->method = method;
    own->owners = delivers ? 2 : 1;
    own->in_order = 1;
    own->left = method == DELIVER_SHORT ? ALL / 2 : ALL;
    bp_pair field;
    bp_http_request request = {
        .size = sizeof request, .method = delivers ? text("POST") : text("GET"),
        .url = method == ASK_TOO_MUCH ? text("http://127.0.0.1:1/") : given};
    if (method == ASK_BADLY) request = bad_request(given, &field);
    bp_http_options options = {.size = sizeof options};
    if (method == DOWNLOAD) options.download = text("parcel");
    if (method == ASK_TOO_MUCH) {
        options.named = named;
        options.named_count = 1;
    }
    const bp_source source = {
        .size = sizeof source, .flags = BP_SOURCE_REPLAYABLE, .length = method == DELIVER_SHORT ? ALL : -1, .pull = pull,
        .rewind = rewind_source, .cancel = cancel_pull, .release = release_source, .context = own};
    const bp_http_exchange exchange = {
        .size = sizeof exchange, .head = headed, .progress = progressed, .ended = ended, .context = own};
    http()->open(self->handle, &request, &options, delivers ? &source : NULL, &exchange, frame);
}

static void create_client(void *type, const bp_creation *creation, bp_created done, void *context) {
    client *self = calloc(1, sizeof *self);
    (void)type;
    if (!self || !http()) {
        free(self);
        done(context, BP_FAILED, NULL, text("there is no backplane.http/2"));
        return;
    }
    self->handle = creation->handle;
    done(context, BP_OK, self, text(""));
}

static void call_client(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)id;
    if (method == EDITION_OF) done(context, BP_OK, text(EDITION));
    else if (method < METHODS) begin(instance, method, input, frame, done, context);
    else done(context, BP_UNIMPLEMENTED, text("the client has no such method"));
}

/* MARK: The manager, which passes everything on */

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
    calls->call(self->handle, self->wire, method, input, frame, done, context);
}

static const bp_wire wires[] = {{
    .size = sizeof(bp_wire),
    .label = BP_TEXT("communicationController"),
    .contract = BP_TEXT("HTTPStep"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = METHODS,
}};

static const bp_component components[] = {
    {
        .size = sizeof(bp_component),
        .role = BP_COMMUNICATION_CONTROLLER,
        .class_name = BP_TEXT("HTTPStepCommunication"),
        .version = BP_TEXT(EDITION ".0.0"),
        .contract = BP_TEXT("HTTPStep"),
        .contract_version = BP_TEXT("1.0.0"),
        .methods = methods,
        .method_count = METHODS,
        .create = create_client,
        .release = free,
        .call = call_client,
#ifdef EXCLUSIVE
        .traits = BP_EXCLUSIVE,
#endif
    },
    {
        .size = sizeof(bp_component),
        .role = BP_MANAGER,
        .class_name = BP_TEXT("HTTPStepManager"),
        .version = BP_TEXT(EDITION ".0.0"),
        .contract = BP_TEXT("HTTPStep"),
        .contract_version = BP_TEXT("1.0.0"),
        .methods = methods,
        .method_count = METHODS,
        .wires = wires,
        .wire_count = 1,
        .create = create_dispatcher,
        .release = free,
        .call = call_dispatcher,
    },
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.http-step"),
        .version = BP_TEXT(EDITION ".0.0"),
        .components = components,
        .component_count = sizeof components / sizeof *components,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
