/* A whole plugin in plain C as ABI 0 has it, compiled with the header that is kept beside it and with nothing else of this package.
 * Neither of the two changes again: every later host loads what they make. Tests/Plugins/Ledger/ledger.cpp is the same in C++.
 *
 * A ledger adds whole numbers up. It never goes below nothing. It may have a book, a data access controller that keeps numbers. */
#include "backplane.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EDITION
#define EDITION "1"
#endif
#define ID "org.backplane.tests.ledger"

BP_IDENTITY(ID, EDITION ".0.0")

static bp_get_interface get_interface;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* A call that waits until nobody wants it any more. */
typedef struct waiter {
    uint64_t id;
    bp_done done;
    void *context;
    struct waiter *next;
} waiter;

typedef struct ledger {
    pthread_mutex_t lock;
    uint64_t handle, trials, book;
    int64_t total;
    uint32_t entries;
    waiter *waiters;
} ledger;

static void say(const ledger *self, const char *line) {
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    const bp_pair edition = {BP_TEXT("edition"), BP_TEXT(EDITION)};
    if (log && log->is_enabled(self->handle, BP_LOG_INFO)) log->write(self->handle, BP_LOG_INFO, text(line), &edition, 1);
}

/* ----------------------------------------------------------------------------------------------- lifecycle */

static int has(bp_bytes bytes, const char *wanted) {
    const size_t length = strlen(wanted);
    for (size_t i = 0; i + length <= bytes.length; i++)
        if (memcmp(bytes.data + i, wanted, length) == 0) return 1;
    return 0;
}

/* 0: it is not connected. */
static uint64_t wire_to(const char *label, const bp_creation *creation) {
    const char *place = (const char *)creation->wires;
    for (size_t i = 0; i < creation->wire_count; i++) {
        const bp_connection *connection = (const bp_connection *)(const void *)place;
        if (connection->label.length == strlen(label) && has(connection->label, label)) return connection->wire;
        place += creation->wires->size;
    }
    return 0;
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    ledger *self;
    (void)type;
    if (has(creation->configuration, "sealed")) {
        done(context, BP_FAILED, NULL, text("the ledger is sealed"));
        return;
    }
    self = calloc(1, sizeof *self);
    if (!self) {
        done(context, BP_FAILED, NULL, text("there is no memory for a ledger"));
        return;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->handle = creation->handle;
    self->trials = wire_to("trials", creation);
    self->book = wire_to("dataAccessController", creation);
    done(context, BP_OK, self, text(""));
}

static void activate(void *instance, bp_done done, void *context) {
    say(instance, "activate");
    done(context, BP_OK, text(""));
}

static void suspend(void *instance, bp_done done, void *context) {
    say(instance, "suspend");
    done(context, BP_OK, text(""));
}

static void resume(void *instance, bp_done done, void *context) {
    say(instance, "resume");
    done(context, BP_OK, text(""));
}

static void stop(void *instance, bp_done done, void *context) {
    say(instance, "stop");
    done(context, BP_OK, text(""));
}

static void health(void *instance, bp_done done, void *context) {
    ledger *self = instance;
    int is_full;
    pthread_mutex_lock(&self->lock);
    is_full = self->total > 1000;
    pthread_mutex_unlock(&self->lock);
    done(context, is_full ? BP_FAILED : BP_OK, text(is_full ? "the ledger is full" : ""));
}

static void release(void *instance) {
    ledger *self = instance;
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* --------------------------------------------------------------------------------------------------- calls */

enum { ADD, TOTAL, EDITION_OF, WAIT, PATH, FAIL, KEEP, KEPT, METHODS };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("add")},          /* a whole number -> the total */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("total")},         /* null -> the total */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},       /* null -> a number */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("wait")},         /* anything -> nothing, until it is cancelled */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("path")},         /* null -> what its collaborator says the path of the call is */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fail")},         /* a text -> its collaborator's error about it */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("keep")},         /* a whole number -> null, once its book has it */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("kept")},         /* null -> how many numbers its book has */
};

static const bp_method needed[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("path")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fail")},
};

static const bp_method book_methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("keep")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("kept")},
};

static const bp_wire wires[] = {
    {.size = sizeof(bp_wire), .label = BP_TEXT("trials"), .contract = BP_TEXT("Trials"), .contract_version = BP_TEXT("2.0.0"),
     .methods = needed, .method_count = sizeof needed / sizeof *needed},
    {.size = sizeof(bp_wire), .flags = BP_WIRE_OPTIONAL, .label = BP_TEXT("dataAccessController"), .contract = BP_TEXT("LedgerBook"),
     .contract_version = BP_TEXT("1.0.0"), .methods = book_methods, .method_count = sizeof book_methods / sizeof *book_methods},
};

static void answer_number(int64_t number, bp_done done, void *context) {
    char json[24];
    snprintf(json, sizeof json, "%" PRId64, number);
    done(context, BP_OK, text(json));
}

/* 0: the input is no whole number. */
static int read_number(bp_bytes input, int64_t *number) {
    char digits[16], *end;
    if (input.length == 0 || input.length >= sizeof digits) return 0;
    memcpy(digits, input.data, input.length);
    digits[input.length] = 0;
    *number = strtoll(digits, &end, 10);
    return end == digits + input.length;
}

static void add(ledger *self, bp_bytes input, bp_done done, void *context) {
    char json[192];
    int64_t number, total;
    if (!read_number(input, &number)) {
        done(context, BP_INVALID_INPUT, text("`add` takes a whole number"));
        return;
    }
    pthread_mutex_lock(&self->lock);
    total = self->total + number;
    if (total >= 0) {
        self->total = total;
        self->entries++;
    }
    pthread_mutex_unlock(&self->lock);
    if (total >= 0) {
        answer_number(total, done, context);
        return;
    }
    snprintf(json, sizeof json,
             "{\"code\": \"component.failed\", \"message\": \"the ledger lacks %" PRId64 "\", "
             "\"failure\": {\"code\": \"ledger.overdrawn\", \"details\": {\"missing\": \"%" PRId64 "\"}}}", -total, -total);
    done(context, BP_ERROR, text(json));
}

static void await(ledger *self, uint64_t id, bp_done done, void *context) {
    waiter *own = malloc(sizeof *own);
    if (!own) {
        done(context, BP_FAILED, text("there is no memory to wait"));
        return;
    }
    own->id = id;
    own->done = done;
    own->context = context;
    pthread_mutex_lock(&self->lock);
    own->next = self->waiters;
    self->waiters = own;
    pthread_mutex_unlock(&self->lock);
    say(self, "waiting");
}

/* What a collaborator's answer is for. */
typedef struct {
    bp_done done;
    void *context;
} asker;

static void answered(void *context, int32_t status, bp_bytes payload) {
    const asker own = *(asker *)context;
    free(context);
    own.done(own.context, status, payload);
}

static void ask(ledger *self, uint64_t wire, uint32_t method, bp_bytes input, const bp_call *frame, bp_done done, void *context) {
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    asker *own = calls ? malloc(sizeof *own) : NULL;
    if (!own) {
        done(context, BP_FAILED, text("the ledger cannot ask"));
        return;
    }
    own->done = done;
    own->context = context;
    calls->call(self->handle, wire, method, input, frame, answered, own);
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    ledger *self = instance;
    switch (method) {
    case ADD: add(self, input, done, context); return;
    case TOTAL: {
        int64_t total;
        pthread_mutex_lock(&self->lock);
        total = self->total;
        pthread_mutex_unlock(&self->lock);
        answer_number(total, done, context);
        return;
    }
    case EDITION_OF: done(context, BP_OK, text(EDITION)); return;
    case WAIT: await(self, id, done, context); return;
    case PATH: ask(self, self->trials, 0, input, frame, done, context); return;
    case FAIL: ask(self, self->trials, 1, input, frame, done, context); return;
    case KEEP: ask(self, self->book, 0, input, frame, done, context); return;
    case KEPT: ask(self, self->book, 1, input, frame, done, context); return;
    default: done(context, BP_UNIMPLEMENTED, text("a ledger has no such method"));
    }
}

static void cancel(void *instance, uint64_t id) {
    ledger *self = instance;
    waiter **place, *found;
    pthread_mutex_lock(&self->lock);
    for (place = &self->waiters; *place && (*place)->id != id; place = &(*place)->next) {}
    found = *place;
    if (found) *place = found->next;
    pthread_mutex_unlock(&self->lock);
    if (!found) return;
    say(self, "cancelled");
    found->done(found->context, BP_CANCELLED, text("the wait is over"));
    free(found);
}

/* ---------------------------------------------------------------------------------------------------- book */

typedef struct book {
    uint64_t handle;
} book;

static void create_book(void *type, const bp_creation *creation, bp_created done, void *context) {
    book *self = malloc(sizeof *self);
    (void)type;
    if (self) self->handle = creation->handle;
    done(context, self ? BP_OK : BP_FAILED, self, text(self ? "" : "there is no memory for a book"));
}

static void written(void *context, int32_t status, bp_bytes payload) {
    const asker own = *(asker *)context;
    free(context);
    own.done(own.context, status, status == BP_OK ? text("null") : payload);
}

static void counted(void *context, int32_t status, const bp_record *records, size_t count, uint64_t total, bp_bytes payload) {
    const asker own = *(asker *)context;
    (void)records;
    (void)count;
    free(context);
    if (status == BP_OK) answer_number((int64_t)total, own.done, own.context);
    else own.done(own.context, status, payload);
}

static void call_book(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const uint64_t handle = ((book *)instance)->handle;
    const bp_store_1 *store = get_interface(text(BP_STORE), 1);
    asker *own = store ? malloc(sizeof *own) : NULL;
    (void)frame;
    (void)id;
    if (!own) {
        done(context, BP_FAILED, text("the book cannot be opened"));
        return;
    }
    own->done = done;
    own->context = context;
    if (method == 0) {
        const bp_store_change change = {
            .size = sizeof change, .kind = BP_STORE_SAVE, .collection = BP_TEXT("numbers"), .id = input, .value = input};
        store->write(handle, &change, 1, written, own);
    } else {
        const bp_store_query every = {.size = sizeof every, .collection = BP_TEXT("numbers")};
        store->query(handle, &every, counted, own);
    }
}

/* --------------------------------------------------------------------------------------------------- state */

/* Version 1: the total, as text. Version 2: that, a blank, and how often something was added. */
static void export_state(void *instance, uint32_t version, bp_done done, void *context) {
    ledger *self = instance;
    char state[48];
    pthread_mutex_lock(&self->lock);
    if (version == 1) snprintf(state, sizeof state, "%" PRId64, self->total);
    else snprintf(state, sizeof state, "%" PRId64 " %" PRIu32, self->total, self->entries);
    pthread_mutex_unlock(&self->lock);
    done(context, BP_OK, text(state));
}

static void import_state(void *instance, uint32_t version, bp_bytes bytes, bp_done done, void *context) {
    ledger *self = instance;
    char state[48] = "";
    int64_t total;
    uint32_t entries = 0;
    int read;
    if (bytes.length < sizeof state && bytes.length) memcpy(state, bytes.data, bytes.length);
    read = sscanf(state, "%" SCNd64 " %" SCNu32, &total, &entries);
    if (read != (version == 1 ? 1 : 2)) {
        done(context, BP_FAILED, text("this is no ledger's state"));
        return;
    }
    pthread_mutex_lock(&self->lock);
    self->total = total;
    self->entries = entries;
    pthread_mutex_unlock(&self->lock);
    done(context, BP_OK, text(""));
}

static const bp_state state = {
    .size = sizeof(bp_state), .version = 2, .schema = BP_TEXT("Ledger"), .accepts_min = 1, .accepts_max = 2, .writes_min = 1,
    .export_state = export_state, .import_state = import_state};

/* --------------------------------------------------------------------------------------------------- entry */

static void review(void *type, bp_bytes configuration, bp_done done, void *context) {
    (void)type;
    if (has(configuration, "sealed")) done(context, BP_FAILED, text("the ledger is sealed"));
    else done(context, BP_OK, text(has(configuration, "colour") ? "[\"/colour\"]" : "[]"));
}

static const bp_component components[] = {
{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("LedgerManager"),
    .version = BP_TEXT(EDITION ".0.0"),
    .contract = BP_TEXT("Ledger"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = METHODS,
    .wires = wires,
    .wire_count = sizeof wires / sizeof *wires,
    .create = create,
    .activate = activate,
    .suspend = suspend,
    .resume = resume,
    .stop = stop,
    .release = release,
    .call = call,
    .cancel = cancel,
    .review = review,
    .state = &state,
    .health = health,
},
{
    .size = sizeof(bp_component),
    .role = BP_DATA_ACCESS_CONTROLLER,
    .class_name = BP_TEXT("LedgerBook"),
    .version = BP_TEXT(EDITION ".0.0"),
    .contract = BP_TEXT("LedgerBook"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = book_methods,
    .method_count = sizeof book_methods / sizeof *book_methods,
    .create = create_book,
    .release = free,
    .call = call_book,
},
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .abi = abi,
        .id = BP_TEXT(ID),
        .version = BP_TEXT(EDITION ".0.0"),
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
