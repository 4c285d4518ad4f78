/* A plugin whose method calls the innocent one's, and when that has returned falls in a function of libc's. */
#define ID "org.backplane.tests.guilty"
#define CLASS BP_TEXT("Guilty")
#define WORK work(frame, done, context)
#define HAS_CREATE
#define HAS_ENTRY

#include "backplane.h"

static void work(const bp_call *frame, bp_done done, void *context);
static void create(void *type, const bp_creation *creation, bp_created done, void *context);

#include "../Corpus/plugin.h"

static const bp_calls_1 *calls;
static uint64_t self, wire;
static const bp_method needed[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("work")}};
static const bp_wire wires[] = {{sizeof(bp_wire), 0, BP_TEXT("innocent"), BP_TEXT("Work"), BP_TEXT("1.0.0"), needed, 1, NULL}};

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    static char instance;
    (void)type;
    self = creation->handle;
    wire = creation->wires[0].wire;
    done(context, BP_OK, &instance, text(""));
}

static void forget(void *context, int32_t status, bp_bytes payload) { (void)context, (void)status, (void)payload; }

static void work(const bp_call *frame, bp_done done, void *context) {
    static const char *volatile nowhere = (const char *)8;
    calls->call(self, wire, 0, text("null"), frame, forget, NULL);
    fprintf(stderr, "%s and %s", "here", nowhere);
    done(context, BP_OK, text("1"));
}

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const bp_bytes name = {(const uint8_t *)BP_CALLS, strlen(BP_CALLS)};
    calls = offer->get_interface(name, 1);
    components[0].wires = wires;
    components[0].wire_count = 1;
    *answer = (bp_answer){
        .size = sizeof *answer, .abi = BP_ABI_MAX, .id = BP_TEXT(ID), .version = BP_TEXT("1.0.0"), .components = components, .component_count = 1,
        .self_check = bp_check_self()};
    return BP_OK;
}
