/* A turnstile, such as `backplane bench` swaps. It keeps the state it is given, whatever that is, and hands it on. */
#include "../../fixture.h"

typedef struct turnstile {
    uint8_t *state;
    size_t length;
} turnstile;

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("pass")},     /* anything -> a ticket that says which edition this is */
};

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    turnstile *self = calloc(1, sizeof *self);
    done(context, BP_OK, self, text(""));
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
    const bp_bytes bytes = {self->state, self->length};
    done(context, BP_OK, bytes);
}

static void import_state(void *instance, uint32_t version, bp_bytes state, bp_done done, void *context) {
    turnstile *self = instance;
    free(self->state);
    self->state = malloc(state.length + 1);
    self->length = state.length;
    memcpy(self->state, state.data, state.length);
    done(context, BP_OK, text(""));
}

static const bp_state state = {sizeof(bp_state), 1, BP_TEXT("TurnstileManager"), 1, 1, 1, 0, export_state, import_state,
    NULL};

const bp_component culprit[] = {
    {CLASS(BP_MANAGER, "TurnstileManager", "Turnstile"), .methods = methods,
     .method_count = sizeof methods / sizeof *methods, .create = create, .release = release, .call = call,
     .state = &state},
    {0},
};
