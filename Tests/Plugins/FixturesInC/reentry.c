/* Two managers, one of which calls the other again from the callback of its answer. */
#include "../fixture.h"

/* `Deep` answers immediately with the depth of its nested calls. Its steps answer with a payload that is not JSON. */
static const bp_method depth[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("depth")}};
static const bp_wire trials[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("trials"), .contract = BP_TEXT("Trials"),
    .contract_version = BP_TEXT("2.0.0")}};

static void call_deep(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    static _Thread_local int calls;
    char digit[] = {(char)('0' + ++calls), 0};
    done(context, BP_OK, text(digit));
    calls--;
}

static void answer_with_words(void *self, bp_done done, void *context) {
    done(context, BP_OK, text("neither null nor JSON\xff"));
}

const bp_component deep[] = {
    {CLASS(BP_MANAGER, "Deep", "Deep"), .methods = depth, .method_count = 1, .wires = trials, .wire_count = 1,
     .create = create_handles, .activate = answer_with_words, .suspend = answer_with_words, .health = answer_with_words,
     .call = call_deep},
    {0},
};

/* `Again` calls `Deep` five times, and returns the last answer. */
static const bp_method methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("again")}};
static const bp_wire wires[] = {{
    .size = sizeof(bp_wire), .label = BP_TEXT("deep"), .contract = BP_TEXT("Deep"),
    .contract_version = BP_TEXT("1.0.0"), .methods = depth, .method_count = 1}};

typedef struct {
    const handles *self;
    bp_done done;
    void *context;
    bp_call frame;
    int left;
} asker;

static void answered(void *context, int32_t status, bp_bytes payload) {
    asker *own = context;
    if (status == BP_OK && --own->left > 0) {
        const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
        calls->call(own->self->handle, own->self->wire, 0, text("null"), &own->frame, answered, own);
        return;
    }
    own->done(own->context, status, payload);
    free(own);
}

static void call_again(
    void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const handles *self = instance;
    const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
    asker *own = malloc(sizeof *own);
    *own = (asker){self, done, context, *frame, 5};
    calls->call(self->handle, self->wire, 0, text("null"), &own->frame, answered, own);
}

const bp_component again[] = {
    {CLASS(BP_MANAGER, "Again", "Again"), .methods = methods, .method_count = 1, .wires = wires, .wire_count = 1,
     .create = create_handles, .call = call_again},
    {0},
};
