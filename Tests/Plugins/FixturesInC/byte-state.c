/* Managers that keep any bytes and hand them over.
 *
 * Their state has two versions: the older version consists of the bytes, and the newer one begins with an `!`. */
#include "../fixture.h"

typedef struct component {
    uint8_t *bytes;         /* the newer version */
    size_t length;
    int is_suspended;
} component;

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    done(context, BP_OK, calloc(1, sizeof(component)), text(""));
}

static void release(void *instance) {
    free(((component *)instance)->bytes);
    free(instance);
}

static void suspend(void *instance, bp_done done, void *context) {
    ((component *)instance)->is_suspended = 1;
    done(context, BP_OK, text(""));
}

static void health(void *instance, bp_done done, void *context) {
    const int is_full = ((component *)instance)->length > 1;
    done(context, is_full ? BP_FAILED : BP_OK, text(is_full ? "the state is full" : ""));
}

static void export_state(void *instance, uint32_t version, bp_done done, void *context) {
    const component *self = instance;
    const size_t skipped = version == 1 && self->length;
    const bp_bytes bytes = {self->bytes + skipped, self->length - skipped};
    done(context, BP_OK, bytes);
}

static void import_state(void *instance, uint32_t version, bp_bytes state, bp_done done, void *context) {
    component *self = instance;
    const size_t added = version == 1;
    self->length = state.length + added;
    self->bytes = realloc(self->bytes, self->length);
    if (added) self->bytes[0] = '!';
    if (state.length) memcpy(self->bytes + added, state.data, state.length);
    done(context, BP_OK, text("ignored"));
}

static void export_twice(void *instance, uint32_t version, bp_done done, void *context) {
    done(context, BP_OK, text("first"));
    done(context, BP_OK, text("second"));
}

static void export_never(void *instance, uint32_t version, bp_done done, void *context) {}

static void import_refused(void *instance, uint32_t version, bp_bytes state, bp_done done, void *context) {
    done(context, BP_FAILED, text("the state is locked"));
}

#define STATE(name, export, import) \
    static const bp_state name = {sizeof(bp_state), 2, BP_TEXT("bytes"), 1, 2, 1, 0, export, import, NULL};
STATE(sound, export_state, import_state)
STATE(twice, export_twice, import_refused)
STATE(never, export_never, import_refused)

#define COMPONENT(name, its_state) \
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT(name), .version = BP_TEXT("1.0.0"), \
     .create = create, .suspend = suspend, .release = release, .traits = BP_EXCLUSIVE, .state = its_state, \
     .health = health}
const bp_component byte_state[] = {
    COMPONENT("ByteState", &sound), COMPONENT("ExportsTwice", &twice), COMPONENT("NeverExports", &never),
        COMPONENT("WithoutState", NULL),
    {0},
};
