/* A plugin with a graph of operations.
 *
 * A component finishes the items of a batch one after another, as a graph in which each node needs the previous one.
 * A call of `advance` finishes an item. */
#include "../fixture.h"

#include <pthread.h>

enum { ITEMS = 3 };

static const bp_operations_1 *operations(void) {
    return get_interface(text(BP_OPERATIONS), 1);
}

typedef struct component component;

/* A graph. The lock of its component guards all mutable state, and is never held during calls of the host. */
typedef struct {
    component *component;
    uint64_t number;
    int finished;                           /* the number of finished items, and of the next item */
    int runs;                                 /* whether the next item runs */
    int is_paused, is_cancelled;
} batch;

struct component {
    pthread_mutex_t lock;
    uint64_t handle;
    batch *batch;
};

static void say(const component *self, const char *line) {
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    const bp_pair version = {BP_TEXT("edition"), text(edition())};
    if (log) log->write(self->handle, BP_LOG_INFO, text(line), &version, 1);
}

/* Starts the next item if that is allowed; requires the lock. */
static void put(batch *self) {
    if (self->finished < ITEMS && !self->is_paused && !self->is_cancelled) self->runs = 1;
}

/* The state of an item; requires the lock. */
static int state_of(const batch *self, int item) {
    if (item < self->finished) return BP_NODE_SUCCEEDED;
    if (self->is_cancelled) return BP_NODE_CANCELLED;
    if (item == self->finished && self->runs) return self->is_paused ? BP_NODE_PAUSING : BP_NODE_RUNNING;
    return self->is_paused ? BP_NODE_PAUSED : BP_NODE_WAITING;
}

static void count(void *context, uint64_t *counts) {
    batch *self = context;
    memset(counts, 0, BP_NODE_STATES * sizeof *counts);
    pthread_mutex_lock(&self->component->lock);
    for (int item = 0; item < ITEMS; item++) counts[state_of(self, item)]++;
    pthread_mutex_unlock(&self->component->lock);
}

static void describe(void *context, uint64_t from, uint64_t max, bp_done done, void *done_context) {
    static const char *const words[] = {"waiting", "running", "pausing", "paused", "succeeded", "failed", "cancelled"};
    batch *self = context;
    char json[512] = "[";
    size_t length = 1;
    pthread_mutex_lock(&self->component->lock);
    for (uint64_t item = from; item < ITEMS && item - from < max; item++) {
        char needs[32] = "";
        if (item > 0) snprintf(needs, sizeof needs, ", \"needs\": [%d]", (int)item - 1);
        length += (size_t)snprintf(
            json + length, sizeof json - length, "%s{\"name\": \"item %d\", \"state\": \"%s\"%s}",
            item > from ? ", " : "", (int)item, words[state_of(self, (int)item)], needs);
    }
    pthread_mutex_unlock(&self->component->lock);
    snprintf(json + length, sizeof json - length, "]");
    done(done_context, BP_OK, text(json));
}

/* Removes the batch from its component and reports its end; `release` frees the batch. */
static void finish(batch *self) {
    component *own = self->component;
    const uint64_t handle = own->handle, number = self->number;
    pthread_mutex_lock(&own->lock);
    if (own->batch == self) own->batch = NULL;
    pthread_mutex_unlock(&own->lock);
    operations()->end(handle, number);
}

static void change(void *context, uint32_t what, int64_t node) {
    batch *self = context;
    int ends = 0;
    if (node >= 0) return;                  /* single items cannot be changed */
    pthread_mutex_lock(&self->component->lock);
    switch (what) {
    case BP_OPERATION_PAUSE: self->is_paused = 1; break;
    case BP_OPERATION_RESUME:
        self->is_paused = 0;
        put(self);
        break;
    case BP_OPERATION_CANCEL:
        self->is_cancelled = ends = 1;
        self->runs = 0;
        break;
    default: break;
    }
    pthread_mutex_unlock(&self->component->lock);
    if (ends) finish(self);
    else operations()->changed(self->component->handle, self->number);
}

/* Called before the component's own `release`, so the component is still there. */
static void release_batch(void *context) {
    batch *self = context;
    say(self->component, "released the batch");
    free(self);
}

/* Begins a batch. Returns whether the host accepted it. */
static int begin(component *self) {
    batch *own = calloc(1, sizeof *own);
    bp_operation operation = {
        .size = sizeof operation, .name = BP_TEXT("batch"), .node_count = ITEMS, .count = count, .describe = describe,
        .change = change, .release = release_batch};
    own->component = self;
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

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    component *self = calloc(1, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
    self->handle = creation->handle;
    done(context, BP_OK, self, text(""));
}

static void release(void *instance) {
    component *self = instance;
    say(self, "released");
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Ends the running item. Returns whether an item was running. */
static int advance(component *self) {
    batch *own;
    int was_there, ends = 0;
    uint64_t number = 0;
    char line[32];
    pthread_mutex_lock(&self->lock);
    own = self->batch;
    was_there = own && own->runs;
    if (was_there) {
        number = own->number;
        snprintf(line, sizeof line, "finished %d", own->finished);
        own->runs = 0;
        ends = ++own->finished == ITEMS;
        put(own);
    }
    pthread_mutex_unlock(&self->lock);
    if (was_there) say(self, line);
    if (ends) finish(own);
    else if (was_there) operations()->changed(self->handle, number);
    return was_there;
}

enum { BEGIN, ADVANCE, EDITION_OF };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("begin")},         /* null -> whether a batch was begun */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("advance")},          /* null -> whether an item was running */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},       /* null -> a number */
};

static void call(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    switch (method) {
    case BEGIN: done(context, BP_OK, text(begin(instance) ? "true" : "false")); return;
    case ADVANCE: done(context, BP_OK, text(advance(instance) ? "true" : "false")); return;
    case EDITION_OF: done(context, BP_OK, text(edition())); return;
    default: done(context, BP_UNIMPLEMENTED, text("the component has no such method"));
    }
}

const bp_component graph[] = {
    {CLASS(BP_MANAGER, "OperationsStepManager", "OperationsStep"), .methods = methods,
     .method_count = sizeof methods / sizeof *methods, .create = create, .release = release, .call = call},
    {0},
};
