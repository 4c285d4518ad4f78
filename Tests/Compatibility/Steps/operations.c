/* A plugin that uses `backplane.operations/1`, and nothing that was added later.
 *
 * An oven bakes the loaves of a batch one after the other: a graph of which each node needs the one before. A loaf is done
 * when somebody calls `bake`. Newer editions go on with the batch. */
#include "backplane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EDITION
#define EDITION "1"
#endif

BP_IDENTITY("org.backplane.tests.oven", EDITION ".0.0")

enum { LOAVES = 3 };

static bp_get_interface get_interface;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

static const bp_operations_1 *operations(void) {
    return get_interface(text(BP_OPERATIONS), 1);
}

typedef struct oven oven;

/* A graph. The lock of its oven guards everything that changes; no function of the host is called behind it. */
typedef struct {
    oven *oven;
    uint64_t number;
    int baked;                              /* the loaves that are done: the next one has this number */
    int bakes;                              /* whether that one is in the oven */
    int is_held, is_paused, is_cancelled;
    bp_done held;                           /* the answer to `hold`, if it is owed */
    void *held_context;
} batch;

struct oven {
    pthread_mutex_t lock;
    uint64_t handle, definition;
    batch *batch;
};

static void say(const oven *self, const char *line) {
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    const bp_pair edition = {BP_TEXT("edition"), BP_TEXT(EDITION)};
    if (log) log->write(self->handle, BP_LOG_INFO, text(line), &edition, 1);
}

/* Puts the next loaf into the oven, if it may; requires the lock. */
static void put(batch *self) {
    if (self->baked < LOAVES && !self->is_held && !self->is_paused && !self->is_cancelled) self->bakes = 1;
}

/* The state of a loaf; requires the lock. */
static int state_of(const batch *self, int loaf) {
    if (loaf < self->baked) return BP_NODE_SUCCEEDED;
    if (self->is_cancelled) return BP_NODE_CANCELLED;
    if (loaf == self->baked && self->bakes) return self->is_paused ? BP_NODE_PAUSING : BP_NODE_RUNNING;
    return self->is_paused ? BP_NODE_PAUSED : BP_NODE_WAITING;
}

static void count(void *context, uint64_t *counts) {
    batch *self = context;
    memset(counts, 0, BP_NODE_STATES * sizeof *counts);
    pthread_mutex_lock(&self->oven->lock);
    for (int loaf = 0; loaf < LOAVES; loaf++) counts[state_of(self, loaf)]++;
    pthread_mutex_unlock(&self->oven->lock);
}

static void describe(void *context, uint64_t from, uint64_t max, bp_done done, void *done_context) {
    static const char *const words[] = {"waiting", "running", "pausing", "paused", "succeeded", "failed", "cancelled"};
    batch *self = context;
    char json[512] = "[";
    size_t length = 1;
    pthread_mutex_lock(&self->oven->lock);
    for (uint64_t loaf = from; loaf < LOAVES && loaf - from < max; loaf++) {
        char needs[32] = "";
        if (loaf > 0) snprintf(needs, sizeof needs, ", \"needs\": [%d]", (int)loaf - 1);
        length += (size_t)snprintf(
            json + length, sizeof json - length, "%s{\"name\": \"loaf %d\", \"state\": \"%s\"%s}", loaf > from ? ", " : "",
            (int)loaf, words[state_of(self, (int)loaf)], needs);
    }
    pthread_mutex_unlock(&self->oven->lock);
    snprintf(json + length, sizeof json - length, "]");
    done(done_context, BP_OK, text(json));
}

/* Takes the batch out of its oven and reports its end; it is freed by `release`. */
static void finish(batch *self) {
    oven *own = self->oven;
    const uint64_t handle = own->handle, number = self->number;
    pthread_mutex_lock(&own->lock);
    if (own->batch == self) own->batch = NULL;
    pthread_mutex_unlock(&own->lock);
    operations()->end(handle, number);
}

static void change(void *context, uint32_t what, int64_t node) {
    batch *self = context;
    int ends = 0;
    if (node >= 0) return;                  /* loaves cannot be changed one by one */
    pthread_mutex_lock(&self->oven->lock);
    switch (what) {
    case BP_OPERATION_PAUSE: self->is_paused = 1; break;
    case BP_OPERATION_RESUME:
        self->is_paused = 0;
        put(self);
        break;
    case BP_OPERATION_CANCEL:
        self->is_cancelled = ends = 1;
        self->bakes = 0;
        break;
    default: break;
    }
    pthread_mutex_unlock(&self->oven->lock);
    if (ends) finish(self);
}

static void hold(void *context, bp_done done, void *done_context) {
    batch *self = context;
    int is_still;
    pthread_mutex_lock(&self->oven->lock);
    self->is_held = 1;
    is_still = !self->bakes;
    if (!is_still) {
        self->held = done;
        self->held_context = done_context;
    }
    pthread_mutex_unlock(&self->oven->lock);
    if (is_still) done(done_context, BP_OK, text(""));
}

static void go_on(void *context) {
    batch *self = context;
    bp_done held;
    void *held_context;
    pthread_mutex_lock(&self->oven->lock);
    held = self->held;
    held_context = self->held_context;
    self->held = NULL;
    self->is_held = 0;
    put(self);
    pthread_mutex_unlock(&self->oven->lock);
    if (held) held(held_context, BP_CANCELLED, text("the batch goes on"));
}

static void save(void *context, bp_done done, void *done_context) {
    batch *self = context;
    char saved[32];
    pthread_mutex_lock(&self->oven->lock);
    snprintf(saved, sizeof saved, "%d %d", self->baked, self->is_paused);
    pthread_mutex_unlock(&self->oven->lock);
    done(done_context, BP_OK, text(saved));
}

static void leave(void *context) {
    batch *self = context;
    pthread_mutex_lock(&self->oven->lock);
    if (self->oven->batch == self) self->oven->batch = NULL;
    pthread_mutex_unlock(&self->oven->lock);
    say(self->oven, "left the batch");
}

/* Called before the component's own `release`, so the oven is still there. */
static void release_batch(void *context) {
    batch *self = context;
    say(self->oven, "released the batch");
    free(self);
}

/* Begins a batch, or goes on with one. Returns whether the host took it. */
static int begin(oven *self, int baked, int is_paused, uint64_t continues) {
    batch *own = calloc(1, sizeof *own);
    bp_operation operation = {
        .size = sizeof operation, .name = BP_TEXT("batch"), .node_count = LOAVES, .definition = self->definition,
        .continues = continues, .count = count, .describe = describe, .change = change, .hold = hold, .go_on = go_on,
        .save = save, .leave = leave, .release = release_batch};
    if (!own) return 0;
    own->oven = self;
    own->baked = baked;
    own->is_paused = is_paused;
    operation.context = own;
    own->number = operations()->begin(self->handle, &operation);
    if (own->number == 0) {
        free(own);
        return 0;
    }
    pthread_mutex_lock(&self->lock);
    self->batch = own;
    put(own);
    pthread_mutex_unlock(&self->lock);
    return 1;
}

static void restore(void *context, uint64_t number, bp_bytes saved, bp_done done, void *done_context) {
    char digits[32] = "";
    int baked, is_paused;
    memcpy(digits, saved.data, saved.length < sizeof digits - 1 ? saved.length : sizeof digits - 1);
#ifdef SPOILED
    done(done_context, BP_FAILED, text("the dough is spoiled"));
    return;
#endif
    if (sscanf(digits, "%d %d", &baked, &is_paused) != 2 || !begin(context, baked, is_paused, number)) {
        done(done_context, BP_FAILED, text("this is no batch"));
        return;
    }
    done(done_context, BP_OK, text(""));
}

static void release_definition(void *context) { say(context, "released the definition"); }

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    oven *self = calloc(1, sizeof *self);
    bp_operation_definition definition = {
        .size = sizeof definition, .name = BP_TEXT("batch"), .restore = restore, .release = release_definition};
    (void)type;
    if (!self || !operations()) {
        free(self);
        done(context, BP_FAILED, NULL, text("there are no operations"));
        return;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->handle = creation->handle;
    definition.context = self;
#ifndef WITHOUT
    self->definition = operations()->define(self->handle, &definition);
    if (operations()->define(self->handle, &definition) != 0) say(self, "a name was taken twice");
#endif
    done(context, BP_OK, self, text(""));
}

static void release(void *instance) {
    oven *self = instance;
    say(self, "released");
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Ends the loaf in the oven. Returns whether there was one. */
static int bake(oven *self) {
    batch *own;
    bp_done held = NULL;
    void *held_context = NULL;
    int was_there, ends = 0;
    char line[32];
    pthread_mutex_lock(&self->lock);
    own = self->batch;
    was_there = own && own->bakes;
    if (was_there) {
        snprintf(line, sizeof line, "baked %d", own->baked);
        own->bakes = 0;
        ends = ++own->baked == LOAVES;
        put(own);
        if (own->is_held) {
            held = own->held;
            held_context = own->held_context;
            own->held = NULL;
        }
    }
    pthread_mutex_unlock(&self->lock);
    if (was_there) say(self, line);
    if (held) held(held_context, BP_OK, text(""));
    if (ends) finish(own);
    return was_there;
}

enum { BEGIN, BAKE, EDITION_OF };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("begin")},         /* null -> whether a batch was begun */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("bake")},          /* null -> whether there was a loaf in the oven */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},       /* null -> a number */
};

static void call(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)input, (void)frame, (void)id;
    switch (method) {
    case BEGIN: done(context, BP_OK, text(begin(instance, 0, 0, 0) ? "true" : "false")); return;
    case BAKE: done(context, BP_OK, text(bake(instance) ? "true" : "false")); return;
    case EDITION_OF: done(context, BP_OK, text(EDITION)); return;
    default: done(context, BP_UNIMPLEMENTED, text("an oven has no such method"));
    }
}

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("OvenManager"),
    .version = BP_TEXT(EDITION ".0.0"),
    .contract = BP_TEXT("Oven"),
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
        .id = BP_TEXT("org.backplane.tests.oven"),
        .version = BP_TEXT(EDITION ".0.0"),
        .components = components,
        .component_count = 1,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
