/* A plugin for attacks on the store: a manager, and its data access controller, which keeps numbers. Each record names itself all over,
 * so that the bytes of a page tell whose they are. */
#include "backplane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.number-store", "1.0.0")

enum { KEEP, FILL, LIST, METHODS, REPEATS = 12, VALUE = REPEATS * 16 + 2 };

static const bp_method methods[METHODS] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("keep")},     /* a number -> null, once it is kept */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fill")},     /* a number -> null, once all below it are kept, by one write */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("list")},     /* null -> the numbers that are kept */
};
static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("dataAccessController"), .contract = BP_TEXT("Shelf"), .contract_version = BP_TEXT("1.0.0"),
    .methods = methods, .method_count = METHODS}};

static const bp_calls_1 *calls;
static const bp_store_1 *store;

static bp_bytes bytes(const char *text, size_t length) {
    return (bp_bytes){(const uint8_t *)text, length};
}
#define FAIL(words) done(context, BP_FAILED, bytes(words, sizeof(words) - 1))

/* ----------------------------------------------------------------------------------------------------- instances */

typedef struct number_store {
    uint64_t handle, wire;
} number_store;

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    number_store *self = malloc(sizeof *self);
    (void)type;
    if (self) *self = (number_store){creation->handle, creation->wire_count ? creation->wires->wire : 0};
    done(context, self ? BP_OK : BP_FAILED, self, bytes("", 0));
}

static void release(void *instance) { free(instance); }

/* The manager hands everything on. */
static void pass_on(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const number_store *self = instance;
    (void)id;
    if (calls) calls->call(self->handle, self->wire, method, input, frame, done, context);
    else FAIL("this host has no backplane.calls");
}

/* ------------------------------------------------------------------------------------------------------- the shelf */

typedef struct asker {
    bp_done done;
    void *context;
} asker;

static void written(void *context, int32_t status, bp_bytes payload) {
    const asker own = *(asker *)context;
    free(context);
    own.done(own.context, status, status == BP_OK ? bytes("null", 4) : payload);
}

static void found(void *context, int32_t status, const bp_record *records, size_t count, uint64_t total, bp_bytes payload) {
    const asker own = *(asker *)context;
    size_t length = 1;
    char *list;
    (void)total;
    free(context);
    if (status != BP_OK) {
        own.done(own.context, status, payload);
        return;
    }
    list = malloc(count * 11 + 3);
    if (list == NULL) {
        own.done(own.context, BP_FAILED, bytes("there is no memory for a list", 29));
        return;
    }
    list[0] = '[';
    for (size_t i = 0; i < count; i++) {
        const bp_record *record = (const bp_record *)((const char *)records + i * records->size);
        length += (size_t)sprintf(list + length, "\"%.8s\",", (const char *)record->id.data);
    }
    if (count) length--;
    list[length++] = ']';
    own.done(own.context, BP_OK, bytes(list, length));
    free(list);
}

/* The value of a record, and at its end the id. */
static void describe(char *text, long number) {
    text[0] = text[VALUE - 1] = '"';
    for (int i = 0; i < REPEATS; i++) {
        char marker[17];
        snprintf(marker, sizeof marker, "<rec:%08ld>>>", number % 100000000);
        memcpy(text + 1 + i * 16, marker, 16);
    }
    snprintf(text + VALUE, 9, "%08ld", number % 100000000);
}

static void save(uint64_t handle, long first, long last, bp_done done, void *context) {
    const size_t count = (size_t)(last - first), size = VALUE + 9;
    bp_store_change *changes = calloc(count, sizeof *changes);
    char *texts = malloc(count * size);
    asker *own = malloc(sizeof *own);
    if (changes == NULL || texts == NULL || own == NULL) {
        free(changes), free(texts), free(own);
        FAIL("there is no memory for the records");
        return;
    }
    *own = (asker){done, context};
    for (size_t i = 0; i < count; i++) {
        char *text = texts + i * size;
        describe(text, first + (long)i);
        changes[i] = (bp_store_change){
            .size = sizeof *changes, .kind = BP_STORE_SAVE, .collection = BP_TEXT("numbers"), .id = bytes(text + VALUE, 8), .value = bytes(text, VALUE)};
    }
    store->write(handle, changes, count, written, own);
    free(changes), free(texts);
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const number_store *self = instance;
    char digits[8] = {0};
    (void)frame, (void)id;
    if (store == NULL) {
        FAIL("this host has no backplane.store");
        return;
    }
    if (method == LIST) {
        const bp_store_query query = {.size = sizeof query, .collection = BP_TEXT("numbers"), .limit = 10000000};
        asker *own = malloc(sizeof *own);
        if (own) *own = (asker){done, context}, store->query(self->handle, &query, found, own);
        else FAIL("there is no memory for a query");
        return;
    }
    for (size_t i = 0; i < input.length; i++) {
        if (i == 7 || input.data[i] < '0' || input.data[i] > '9') {
            digits[0] = 0;
            break;
        }
        digits[i] = (char)input.data[i];
    }
    if (digits[0] == 0) {
        done(context, BP_INVALID_INPUT, bytes("a number of up to seven digits is kept", 38));
        return;
    }
    if (method == FILL && atol(digits) > 0) save(self->handle, 0, atol(digits), done, context);
    else save(self->handle, atol(digits), atol(digits) + 1, done, context);
}

/* ---------------------------------------------------------------------------------------------------- descriptors */

static const bp_component components[] = {
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("NumberStore"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("NumberStore"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS,
     .wires = wires, .wire_count = 1, .create = create, .release = release, .call = pass_on},
    {.size = sizeof(bp_component), .role = BP_DATA_ACCESS_CONTROLLER, .class_name = BP_TEXT("Shelf"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("Shelf"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS,
     .create = create, .release = release, .call = call},
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .size = sizeof own, .abi = abi, .id = BP_TEXT("org.backplane.tests.number-store"), .version = BP_TEXT("1.0.0"),
        .components = components, .component_count = 2, .self_check = bp_check_self()};
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    calls = offer->get_interface((bp_bytes)BP_TEXT(BP_CALLS), 1);
    store = offer->get_interface((bp_bytes)BP_TEXT(BP_STORE), 1);
    if (answer->size < own.size) own.size = answer->size;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
