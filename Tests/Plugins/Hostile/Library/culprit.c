/* A turnstile like those of the benchmarks. It keeps any state that it receives, and hands it over. The settings
 * `hangs` and `fails` name a step that never returns or that fails. The setting `exported` is a number of bytes to
 * export as the state instead. */
#include "../../fixture.h"

#include <unistd.h>

int goes_wrong(const char *step) {
    const char *hangs = setting("hangs"), *fails = setting("fails");
    while (hangs && strcmp(hangs, step) == 0) pause();
    return fails && strcmp(fails, step) == 0;
}

static void end(const char *step, bp_done done, void *context) {
    if (goes_wrong(step)) done(context, BP_FAILED, text("the culprit fails here"));
    else done(context, BP_OK, text(""));
}

typedef struct turnstile {
    uint8_t *state;
    size_t length;
} turnstile;

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("pass")},     /* anything -> a ticket with the edition */
};

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    turnstile *self = calloc(1, sizeof *self);
    if (goes_wrong("CREATE")) {
        free(self);
        done(context, BP_FAILED, NULL, text("the culprit fails here"));
        return;
    }
    done(context, BP_OK, self, text(""));
}

static void activate(void *instance, bp_done done, void *context) {
    end("ACTIVATE", done, context);
}

static void suspend(void *instance, bp_done done, void *context) {
    end("SUSPEND", done, context);
}

static void resume(void *instance, bp_done done, void *context) {
    end("RESUME", done, context);
}

static void release(void *instance) {
    free(((turnstile *)instance)->state);
    free(instance);
}

static void call(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    char ticket[80];
    snprintf(ticket, sizeof ticket, "{\"edition\": %s, \"handovers\": 0, \"count\": 0, \"own\": 0}", edition());
    done(context, BP_OK, text(ticket));
}

static void export_state(void *instance, uint32_t version, bp_done done, void *context) {
    turnstile *self = instance;
    bp_bytes bytes = {self->state, self->length};
    uint8_t *zeros = NULL;
    if (setting("exported")) {
        bytes.length = strtoul(setting("exported"), NULL, 10);
        bytes.data = zeros = calloc(1, bytes.length);
    }
    if (goes_wrong("EXPORT")) done(context, BP_FAILED, text("the culprit fails here"));
    else done(context, BP_OK, bytes);
    free(zeros);
}

static void import_state(void *instance, uint32_t version, bp_bytes state, bp_done done, void *context) {
    turnstile *self = instance;
    free(self->state);
    self->state = malloc(state.length + 1);
    self->length = state.length;
    memcpy(self->state, state.data, state.length);
    end("IMPORT", done, context);
}

static const bp_state state = {sizeof(bp_state), 1, BP_TEXT("TurnstileManager"), 1, 1, 1, 0, export_state, import_state,
    NULL};

const bp_component culprit[] = {
    {CLASS(BP_MANAGER, "TurnstileManager", "Turnstile"), .methods = methods,
     .method_count = sizeof methods / sizeof *methods, .create = create, .activate = activate, .suspend = suspend,
     .resume = resume, .release = release, .call = call, .state = &state},
    {0},
};
