/* A manager and its data access controller, which stores numbers. Each record repeats its number, so that all bytes of
 * a page reveal their record. */
#include "../fixture.h"

enum { KEEP, FILL, LIST, METHODS, REPEATS = 12, VALUE = REPEATS * 16 + 2 };

static const bp_method methods[METHODS] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("keep")},     /* a number -> null, once it is kept */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fill")},     /* a number -> null, once one write has stored all below */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("list")},     /* null -> the numbers that are kept */
};
static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("dataAccessController"), .contract = BP_TEXT("Shelf"),
    .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS}};

static bp_bytes bytes(const char *text, size_t length) {
    return (bp_bytes){(const uint8_t *)text, length};
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

static void found(
    void *context, int32_t status, const bp_record *records, size_t count, uint64_t total, bp_bytes payload) {
    const asker own = *(asker *)context;
    size_t length = 1;
    char *list;
    free(context);
    if (status != BP_OK) {
        own.done(own.context, status, payload);
        return;
    }
    list = malloc(count * 11 + 3);
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

/* The value of a record, which ends with the id. */
static void describe(char *text, long number) {
    text[0] = text[VALUE - 1] = '"';
    for (int i = 0; i < REPEATS; i++) {
        char marker[17];
        snprintf(marker, sizeof marker, "<rec:%08ld>>>", number % 100000000);
        memcpy(text + 1 + i * 16, marker, 16);
    }
    snprintf(text + VALUE, 9, "%08ld", number % 100000000);
}

static void save(const bp_store_1 *store, uint64_t handle, long first, long last, bp_done done, void *context) {
    const size_t count = (size_t)(last - first), size = VALUE + 9;
    bp_store_change *changes = calloc(count, sizeof *changes);
    char *texts = malloc(count * size);
    asker *own = malloc(sizeof *own);
    *own = (asker){done, context};
    for (size_t i = 0; i < count; i++) {
        char *text = texts + i * size;
        describe(text, first + (long)i);
        changes[i] = (bp_store_change){
            .size = sizeof *changes, .kind = BP_STORE_SAVE, .collection = BP_TEXT("numbers"), .id = bytes(text + VALUE,
            8), .value = bytes(text, VALUE)};
    }
    store->write(handle, changes, count, written, own);
    free(changes), free(texts);
}

static void call(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const handles *self = instance;
    const bp_store_1 *store = get_interface(text(BP_STORE), 1);
    char digits[8] = {0};
    if (method == LIST) {
        const bp_store_query query = {.size = sizeof query, .collection = BP_TEXT("numbers"), .limit = 10000000};
        asker *own = malloc(sizeof *own);
        *own = (asker){done, context};
        store->query(self->handle, &query, found, own);
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
    if (method == FILL && atol(digits) > 0) save(store, self->handle, 0, atol(digits), done, context);
    else save(store, self->handle, atol(digits), atol(digits) + 1, done, context);
}

/* ---------------------------------------------------------------------------------------------------- descriptors */

const bp_component number_store[] = {
    {CLASS(BP_MANAGER, "NumberStore", "NumberStore"), .methods = methods, .method_count = METHODS, .wires = wires,
     .wire_count = 1, .create = create_handles, .release = free, .call = pass_on},
    {CLASS(BP_DATA_ACCESS_CONTROLLER, "Shelf", "Shelf"), .methods = methods, .method_count = METHODS,
     .create = create_handles, .release = free, .call = call},
    {0},
};
