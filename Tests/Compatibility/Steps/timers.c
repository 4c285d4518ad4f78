/* A plugin that uses what `backplane.timers/1` added to ABI 0, and nothing that was added later.
 *
 * A component counts rounds by a timer, and writes a line of each round, of what it refuses, and of the end of its things. */
#include "backplane.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EDITION
#define EDITION "1"
#endif
/* In milliseconds. */
#ifndef PERIOD
#define PERIOD 1000
#endif

BP_IDENTITY("org.backplane.tests.timers-step", EDITION ".0.0")

static bp_get_interface get_interface;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

/* A round that goes on until it is ended or cancelled. */
typedef struct {
    uint64_t run;
    bp_done done;
    void *context;
} hanging;

typedef struct {
    pthread_mutex_t lock;
    uint64_t handle, rounds_timer;
    uint32_t rounds;
    int hangs;
    hanging hanging;
} component;

static void say(const component *self, const char *line) {
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    const bp_pair edition = {BP_TEXT("edition"), BP_TEXT(EDITION)};
    if (log) log->write(self->handle, BP_LOG_INFO, text(line), &edition, 1);
}

static const bp_timers_1 *timers(void) {
    return get_interface(text(BP_TIMERS), 1);
}

static void go_round(void *context, const bp_call *call, uint64_t run, bp_done done, void *done_context) {
    component *self = context;
    char line[32];
    int hangs;
    pthread_mutex_lock(&self->lock);
    self->rounds++;
    snprintf(line, sizeof line, "round %" PRIu32, self->rounds);
    hangs = self->hangs;
    if (hangs) {
        self->hanging.run = run;
        self->hanging.done = done;
        self->hanging.context = done_context;
    }
    pthread_mutex_unlock(&self->lock);
    if (call->size != sizeof *call || call->deadline_ns == 0) {
        done(done_context, BP_FAILED, text("a round without a deadline"));
        return;
    }
    say(self, line);
    if (!hangs) done(done_context, BP_OK, text(""));
}

static int end_round(component *self, uint64_t run, int32_t status) {
    hanging own;
    pthread_mutex_lock(&self->lock);
    own = self->hanging;
    if (own.done && (run == 0 || own.run == run)) self->hanging.done = NULL;
    else own.done = NULL;
    pthread_mutex_unlock(&self->lock);
    if (own.done) own.done(own.context, status, text("ended"));
    return own.done != NULL;
}

static void cancel_round(void *context, uint64_t run) {
    say(context, "cancelled");
    end_round(context, run, BP_CANCELLED);
}

static void end_rounds(void *context) {
    say(context, "rounds ended");
}

static void fail(void *context, const bp_call *call, uint64_t run, bp_done done, void *done_context) {
    (void)context, (void)call, (void)run;
    done(done_context, BP_FAILED, text("the timer failed"));
}

/* Writes why the host refuses a timer. */
static void added(void *context, int32_t status, bp_bytes payload) {
    char line[256];
    if (status == BP_OK) return;
    snprintf(line, sizeof line, "refused: %.*s", (int)payload.length, (const char *)payload.data);
    say(context, line);
}

static uint64_t add(component *self, const char *name, int64_t delay, int64_t period, bp_timer_fire fire) {
    const bp_timer timer = {
        .size = sizeof timer, .name = text(name), .delay_ns = delay * 1000000, .period_ns = period * 1000000, .limit_ns = 3600000000000,
        .fire = fire, .cancel = cancel_round, .release = end_rounds, .context = self};
    return timers()->add(self->handle, &timer, added, self);
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    component *self = calloc(1, sizeof *self);
    (void)type;
    if (!self || !timers()) {
        free(self);
        done(context, BP_FAILED, NULL, text("there are no timers"));
        return;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->handle = creation->handle;
    self->rounds_timer = add(self, "rounds", 0, PERIOD, go_round);
    done(context, BP_OK, self, text(""));
}

static void release(void *instance) {
    component *self = instance;
    say(self, "released");
    pthread_mutex_destroy(&self->lock);
    free(self);
}

enum { ROUNDS, HANG, END_ROUND, REMOVE, FAIL, WRONG, EDITION_OF };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("rounds")},        /* null -> how many rounds were begun */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("hang")},        /* null -> null; rounds go on until `endRound` */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("endRound")},          /* null -> whether there was a round to end */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("remove")},          /* null -> null; there are no more rounds */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("fail")},          /* null -> null; a timer of one second that fails */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("wrong")},         /* null -> how many of four wrong timers were taken */
    {sizeof(bp_method), BP_SYNC, BP_TEXT("edition")},       /* null -> a number */
};

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    component *self = instance;
    char json[16];
    (void)input, (void)frame, (void)id;
    switch (method) {
    case ROUNDS:
        pthread_mutex_lock(&self->lock);
        snprintf(json, sizeof json, "%" PRIu32, self->rounds);
        pthread_mutex_unlock(&self->lock);
        done(context, BP_OK, text(json));
        return;
    case HANG:
        pthread_mutex_lock(&self->lock);
        self->hangs = 1;
        pthread_mutex_unlock(&self->lock);
        done(context, BP_OK, text("null"));
        return;
    case END_ROUND: done(context, BP_OK, text(end_round(self, 0, BP_OK) ? "true" : "false")); return;
    case REMOVE:
        timers()->remove(self->handle, self->rounds_timer);
        done(context, BP_OK, text("null"));
        return;
    case FAIL:
        add(self, "fail", 1000, 0, fail);
        done(context, BP_OK, text("null"));
        return;
    case WRONG:
        snprintf(json, sizeof json, "%d", (add(self, "rounds", 0, 1000, go_round) != 0) + (add(self, "idle", 0, 1000, NULL) != 0)
                 + (add(self, "back", -1, 1000, go_round) != 0) + (timers()->add(999999, &(bp_timer){.size = sizeof(bp_timer), .fire = fail}, added, self) != 0));
        done(context, BP_OK, text(json));
        return;
    case EDITION_OF: done(context, BP_OK, text(EDITION)); return;
    default: done(context, BP_UNIMPLEMENTED, text("the component has no such method"));
    }
}

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("TimersStepManager"),
    .version = BP_TEXT(EDITION ".0.0"),
    .contract = BP_TEXT("TimersStep"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .release = release,
    .call = call,
#ifdef EXCLUSIVE
    .traits = BP_EXCLUSIVE,
#endif
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.timers-step"),
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
