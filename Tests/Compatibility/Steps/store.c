/* A plugin that uses what `backplane.store/2` added to ABI 0, and nothing that was added later.
 *
 * A catalogue keeps books with declared indexes, finds them page by page, and reads the log of its changes. A reader, its
 * manager, passes calls on. */
#include "backplane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.catalogue", "1.0.0")

static bp_get_interface get_interface;

typedef struct { uint64_t handle, wire; } catalogue;

/* A call in progress: its answer, which grows, and the place that a reading has reached. */
typedef struct {
    uint64_t handle;
    bp_done done;
    void *context;
    bp_store_selection selection;
    uint8_t cursor[256];
    char answer[1024];
} asker;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

static const bp_store_2 *store(void) { return get_interface(text(BP_STORE), 2); }

static void append(asker *self, const char *format, bp_bytes bytes, int64_t number) {
    const size_t used = strlen(self->answer);
    const char *comma = used > 1 ? ", " : "";
    char word[256];
    snprintf(word, sizeof word, format, (int)bytes.length, (const char *)bytes.data, number);
    snprintf(self->answer + used, sizeof self->answer - used, "%s%s", comma, word);
}

static void end(asker *self, int32_t status, bp_bytes payload) {
    if (status == BP_OK) {
        strcat(self->answer, "]");
        self->done(self->context, BP_OK, text(self->answer));
    } else {
        self->done(self->context, status, payload);
    }
    free(self);
}

static asker *begin(const catalogue *self, bp_done done, void *context) {
    asker *own = calloc(1, sizeof *own);
    if (!own) abort();
    own->handle = self->handle;
    own->done = done;
    own->context = context;
    own->selection = (bp_store_selection){.size = sizeof own->selection, .collection = text("books"), .limit = 2};
    strcpy(own->answer, "[");
    return own;
}

/* Answers with the numbers of a batch. */
static void written(void *context, int32_t status, const int64_t *numbers, size_t count, bp_bytes payload) {
    asker *self = context;
    size_t i;
    for (i = 0; i < count; i++) append(self, "%.*s%" PRId64, text(""), numbers[i]);
    end(self, status, payload);
}

/* Goes on to the next page, and answers with the ids and versions of all. */
static void read_on(void *context, int32_t status, const bp_store_page *page, bp_bytes payload) {
    asker *self = context;
    size_t i;
    const char *record;
    if (status != BP_OK) {
        end(self, status, payload);
        return;
    }
    record = (const char *)page->records;
    for (i = 0; i < page->record_count; i++, record += page->records->size) {
        const bp_store_record *own = (const bp_store_record *)record;
        append(self, "\"%.*s %" PRId64 "\"", own->id, own->version);
    }
    if (page->next.length == 0 || page->next.length > sizeof self->cursor) {
        end(self, BP_OK, text(""));
        return;
    }
    memcpy(self->cursor, page->next.data, page->next.length);
    self->selection.after.data = self->cursor;
    self->selection.after.length = page->next.length;
    store()->read(self->handle, &self->selection, NULL, read_on, self);
}

static void read_changes(void *context, int32_t status, const bp_store_changes *page, bp_bytes payload) {
    asker *self = context;
    size_t i;
    const char *change;
    if (status != BP_OK) {
        end(self, status, payload);
        return;
    }
    change = (const char *)page->changes;
    for (i = 0; i < page->change_count; i++, change += page->changes->size) {
        const bp_store_logged *own = (const bp_store_logged *)change;
        append(self, "\"%.*s %" PRId64 "\"", own->id, (int64_t)own->kind);
        if (own->value.length > 0) append(self, "%.*s%.0" PRId64, own->value, 0);
    }
    append(self, "\"%.*sflags %" PRId64 "\"", text(""), (int64_t)page->flags);
    end(self, BP_OK, text(""));
}

static void define(const catalogue *self, bp_done done, void *context) {
    const bp_bytes author[] = {BP_TEXT("author.name"), BP_TEXT("year")}, title[] = {BP_TEXT("title")}, isbn[] = {BP_TEXT("isbn")};
    const bp_store_index indexes[] = {
        {.size = sizeof *indexes, .paths = author, .path_count = 2},
        {.size = sizeof *indexes, .name = BP_TEXT("titles"), .paths = title, .path_count = 1},
        {.size = sizeof *indexes, .flags = BP_INDEX_UNIQUE, .paths = isbn, .path_count = 1}};
    const bp_store_collection books = {.size = sizeof books, .name = BP_TEXT("books"), .indexes = indexes, .index_count = 3};
    store()->define(self->handle, &books, NULL, done, context);
}

#define SAVE(key, json) {.size = sizeof(bp_store_change), .kind = BP_STORE_SAVE, .collection = BP_TEXT("books"), .id = BP_TEXT(key), .value = BP_TEXT(json)}
#define ABSENT(key) {.size = sizeof(bp_store_condition), .kind = BP_STORE_IF_VERSION, .collection = BP_TEXT("books"), .id = BP_TEXT(key)}

static uint64_t fill(asker *self) {
    static const bp_store_change changes[] = {
        SAVE("moon", "{\"title\":\"From the Earth to the Moon\",\"author\":{\"name\":\"Verne\"},\"year\":1865,\"isbn\":\"1\"}"),
        SAVE("emma", "{\"title\":\"Emma\",\"author\":{\"name\":\"Austen\"},\"year\":1815,\"isbn\":\"2\"}"),
        SAVE("sea", "{\"title\":\"Twenty Thousand Leagues\",\"author\":{\"name\":\"Verne\"},\"year\":1870,\"isbn\":\"3\"}"),
        SAVE("around", "{\"title\":\"Around the World\",\"author\":{\"name\":\"Verne\"},\"year\":1873}"),
        SAVE("atlas", "{\"title\":\"An atlas\",\"year\":1873.5}")};
    static const bp_store_condition conditions[] = {ABSENT("moon"), ABSENT("emma")};
    const bp_store_batch batch = {.size = sizeof batch, .changes = changes, .change_count = 5, .conditions = conditions, .condition_count = 2};
    return store()->write(self->handle, &batch, NULL, written, self);
}

static uint64_t change(asker *self, const bp_store_change *changes, size_t count, const bp_store_condition *condition) {
    const bp_store_batch batch = {.size = sizeof batch, .changes = changes, .change_count = count, .conditions = condition, .condition_count = condition != NULL};
    return store()->write(self->handle, &batch, NULL, written, self);
}

enum { DEFINE, FILL, AGAIN, TWICE, VERNE, YEARS, PREFIX, LAST, IDS, COUNT, UNCHANGED, CHANGES, UNKNOWN, WRONG, LATE };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("define")},       /* null -> null */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fill")},         /* null -> the numbers of five new books */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("again")},        /* null -> a conflict */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("twice")},        /* null -> a duplicate */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("verne")},        /* null -> the books of one author by year */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("years")},        /* null -> those of them after 1865 and through 1873 */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("prefix")},       /* null -> the books whose titles begin with A */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("last")},         /* null -> all books, the last first */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("ids")},          /* null -> two books and one that is not there */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("count")},        /* null -> the number of books */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("unchanged")},    /* null -> a conflict */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("changes")},      /* null -> what became of emma, and the other changes */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("unknown")},      /* null -> an index that there is not */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("wrong")},        /* null -> a value that is none */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("late")},         /* null -> a deadline that has passed */
};

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    static const bp_bytes verne = BP_TEXT("\"Verne\""), austen = BP_TEXT("{\"name\":\"Austen\"}");
    static const bp_bytes ids[] = {BP_TEXT("moon"), BP_TEXT("nothing"), BP_TEXT("emma")};
    static const bp_store_change twice = SAVE("other", "{\"isbn\":\"3\"}");
    static const bp_store_change gone = {.size = sizeof gone, .kind = BP_STORE_DELETE, .collection = BP_TEXT("books"), .id = BP_TEXT("emma")};
    static const bp_store_condition none = {.size = sizeof none, .kind = BP_STORE_IF_UNCHANGED, .collection = BP_TEXT("books")};
    bp_call past = *frame;
    asker *self;
    (void)input, (void)id;
    if (method == DEFINE) {
        define(instance, done, context);
        return;
    }
    self = begin(instance, done, context);
    switch (method) {
    case FILL:
    case AGAIN: fill(self); return;
    case TWICE: change(self, &twice, 1, NULL); return;
    case UNCHANGED: change(self, &gone, 1, &none); return;
    case VERNE:
    case YEARS:
        self->selection.index = text("author.name,year");
        self->selection.equal = &verne;
        self->selection.equal_count = 1;
        if (method == YEARS) {
            self->selection.flags = BP_SELECT_AFTER_FROM | BP_SELECT_THROUGH_TO | BP_SELECT_WITHOUT_VALUES;
            self->selection.from = text("1865");
            self->selection.to = text("1873.0");
        }
        break;
    case PREFIX:
        self->selection.index = text("titles");
        self->selection.from = text("\"A\"");
        self->selection.flags = BP_SELECT_PREFIX;
        break;
    case LAST: self->selection.flags = BP_SELECT_DESCENDING; break;
    case IDS:
        self->selection.ids = ids;
        self->selection.id_count = 3;
        break;
    case COUNT:
        store()->count(self->handle, &self->selection, NULL, done, context);
        free(self);
        return;
    case CHANGES:
        store()->changes(self->handle, text("books"), 3, 2, NULL, read_changes, self);
        return;
    case UNKNOWN: self->selection.index = text("weight"); break;
    case WRONG:
        self->selection.index = text("author.name,year");
        self->selection.equal = &austen;
        self->selection.equal_count = 1;
        break;
    case LATE:
        past.deadline_ns = 1;
        store()->count(self->handle, &self->selection, &past, done, context);
        free(self);
        return;
    default:
        free(self);
        done(context, BP_UNIMPLEMENTED, text("a catalogue has no such method"));
        return;
    }
    /* An id that is not there does no harm. */
    store()->cancel(self->handle, 1);
    store()->read(self->handle, &self->selection, NULL, read_on, self);
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    catalogue *self = calloc(1, sizeof *self);
    (void)type;
    if (!self || !store()) {
        free(self);
        done(context, BP_FAILED, NULL, text("there is no store"));
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
    .class_name = BP_TEXT("CatalogueReader"),
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
    .class_name = BP_TEXT("CatalogueStore"),
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
        .id = BP_TEXT("org.backplane.tests.catalogue"),
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
