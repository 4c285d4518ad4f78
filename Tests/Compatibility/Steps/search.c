/* A plugin that uses what was added to `backplane.store/2` after its first functions, and nothing that was added later.
 *
 * A catalogue keeps books, finds them by their words, and waits for changes. A reader, its manager, passes calls on. */
#include "backplane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.finder", "1.0.0")

static bp_get_interface get_interface;

typedef struct { uint64_t handle, wire; } catalogue;

/* A call in progress. */
typedef struct {
    bp_done done;
    void *context;
} asker;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* Returns the table, if it has the functions that this plugin was made for. */
static const bp_store_2 *store(void) {
    const bp_store_2 *table = get_interface(text(BP_STORE), 2);
    return table && table->size >= offsetof(bp_store_2, wait) + sizeof table->wait ? table : NULL;
}

static asker *begin(bp_done done, void *context) {
    asker *own = calloc(1, sizeof *own);
    if (!own) abort();
    own->done = done;
    own->context = context;
    return own;
}

static void written(void *context, int32_t status, const int64_t *numbers, size_t count, bp_bytes payload) {
    asker *self = context;
    char number[32];
    if (status == BP_OK) {
        snprintf(number, sizeof number, "%" PRId64, count > 0 ? numbers[count - 1] : 0);
        payload = text(number);
    }
    self->done(self->context, status, payload);
    free(self);
}

/* Answers with the ids, the best first. */
static void found(void *context, int32_t status, const bp_store_page *page, bp_bytes payload) {
    asker *self = context;
    char answer[512] = "[";
    size_t i;
    const char *record;
    if (status == BP_OK) {
        record = (const char *)page->records;
        for (i = 0; i < page->record_count; i++, record += page->records->size) {
            const bp_bytes id = ((const bp_store_record *)record)->id;
            const size_t used = strlen(answer);
            snprintf(answer + used, sizeof answer - used, "%s\"%.*s\"", i > 0 ? "," : "", (int)id.length, (const char *)id.data);
        }
        strcat(answer, page->next.length == 0 ? "]" : ",\"more\"]");
        payload = text(answer);
    }
    self->done(self->context, status, payload);
    free(self);
}

static void define(const catalogue *self, bp_bytes tokenizer, bp_done done, void *context) {
    static const bp_bytes words[] = {BP_TEXT("title"), BP_TEXT("authors.name")}, title[] = {BP_TEXT("title")};
    static const uint32_t prefixes[] = {1, 3};
    const bp_store_index indexes[] = {
        {.size = sizeof *indexes, .flags = BP_INDEX_TEXT, .name = BP_TEXT("words"), .paths = words, .path_count = 2,
         .tokenizer = tokenizer, .prefixes = prefixes, .prefix_count = 2},
        {.size = sizeof *indexes, .paths = title, .path_count = 1}};
    const bp_store_collection books = {.size = sizeof books, .name = BP_TEXT("books"), .indexes = indexes, .index_count = 2};
    store()->define(self->handle, &books, NULL, done, context);
}

#define SAVE(key, json) {.size = sizeof(bp_store_change), .kind = BP_STORE_SAVE, .collection = BP_TEXT("books"), .id = BP_TEXT(key), .value = BP_TEXT(json)}

enum { DEFINE, WRONG, FILL, SEARCH, LATER, WAIT, SOON };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("define")},   /* null -> null */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("wrong")},    /* null -> a tokenizer that there is not */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fill")},     /* null -> the number of the last of three changes */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("search")},   /* the words, without quotation marks -> ids */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("later")},    /* null -> the number of a change */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("wait")},     /* a number -> null, once there is a change after it */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("soon")},     /* a number -> a deadline that passes before a change */
};

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    static const bp_store_change books[] = {
        SAVE("moon", "{\"title\":\"From the Earth to the Moon\",\"authors\":[{\"name\":\"Jules Verne\"}]}"),
        SAVE("sea", "{\"title\":\"Twenty Thousand Leagues\",\"authors\":[{\"name\":\"Jules Verne\"}]}"),
        SAVE("emma", "{\"title\":\"Emma\",\"authors\":[{\"name\":\"Jane Austen\"}]}")};
    static const bp_store_change later = SAVE("later", "{}");
    const catalogue *self = instance;
    bp_store_batch batch = {.size = sizeof batch, .changes = books, .change_count = 3};
    bp_store_search words = {.size = sizeof words, .collection = BP_TEXT("books"), .index = BP_TEXT("words"), .limit = 10};
    bp_call past = *frame;
    char number[32] = "";
    (void)id;
    memcpy(number, input.data, input.length < sizeof number ? input.length : sizeof number - 1);
    switch (method) {
    case DEFINE: define(self, text(""), done, context); return;
    case WRONG: define(self, text("runes"), done, context); return;
    case LATER:
        batch.changes = &later;
        batch.change_count = 1; /* fall through */
    case FILL: store()->write(self->handle, &batch, NULL, written, begin(done, context)); return;
    case SEARCH:
        words.text.data = input.data + 1;
        words.text.length = input.length - 2;
        store()->search(self->handle, &words, NULL, found, begin(done, context));
        return;
    case WAIT: store()->wait(self->handle, text("books"), strtoll(number, NULL, 10), frame, done, context); return;
    case SOON:
        past.deadline_ns = 1;
        store()->wait(self->handle, text("books"), strtoll(number, NULL, 10), &past, done, context);
        return;
    default: done(context, BP_UNIMPLEMENTED, text("a catalogue has no such method"));
    }
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    catalogue *self = calloc(1, sizeof *self);
    (void)type;
    if (!self || !store()) {
        free(self);
        done(context, BP_FAILED, NULL, text("there is no store, or an older one"));
        return;
    }
    self->handle = creation->handle;
    if (creation->wire_count > 0) self->wire = creation->wires->wire;
    done(context, BP_OK, self, text(""));
}

static void release(void *instance) { free(instance); }

static void pass_on(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const catalogue *self = instance;
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    (void)id;
    calls->call(self->handle, self->wire, method, input, frame, done, context);
}

static const bp_wire wires[] = {{
    .size = sizeof(bp_wire),
    .label = BP_TEXT("dataAccessController"),
    .contract = BP_TEXT("Catalogue"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
}};

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("FinderReader"),
    .version = BP_TEXT("1.0.0"),
    .contract = BP_TEXT("Catalogue"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .wires = wires,
    .wire_count = 1,
    .create = create,
    .release = release,
    .call = pass_on,
}, {
    .size = sizeof(bp_component),
    .role = BP_DATA_ACCESS_CONTROLLER,
    .class_name = BP_TEXT("FinderStore"),
    .version = BP_TEXT("1.0.0"),
    .contract = BP_TEXT("Catalogue"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .release = release,
    .call = call,
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.finder"),
        .version = BP_TEXT("1.0.0"),
        .components = components,
        .component_count = 2,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
