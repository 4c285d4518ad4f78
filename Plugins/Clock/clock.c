/* A complete plugin in plain C: a manager with two methods. It needs nothing but backplane.h. */
#define _POSIX_C_SOURCE 200809L     /* clock_gettime */

#include "backplane.h"
#include "json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

BP_IDENTITY("org.backplane.clock", "1.0.0")

enum { NOW, ECHO };

static const bp_method methods[] = {
    {sizeof(bp_method), BP_SYNC, BP_TEXT("now")},       /* null -> Date: seconds since 2001-01-01 00:00 UTC */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("echo")},     /* any JSON -> the same JSON */
};

static bp_bytes text(const char *literal) {
    bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

static void now(bp_done done, void *context) {
    const double reference_date = 978307200.0;          /* 2001-01-01 as seconds since 1970 */
    struct timespec time;
    char json[32];
    clock_gettime(CLOCK_REALTIME, &time);
    snprintf(json, sizeof json, "%.6f", (double)time.tv_sec - reference_date + (double)time.tv_nsec / 1e9);
    done(context, BP_OK, text(json));
}

/* The manager has no state, so all its instances are this one. */
static char clock_instance;

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    (void)type;
    (void)creation;
    done(context, BP_OK, &clock_instance, text(""));
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    (void)instance;
    (void)frame;
    (void)id;
    if (!json_is_valid(input.data, input.length)) {
        done(context, BP_INVALID_INPUT, text("the input is not JSON"));
        return;
    }
    switch (method) {
    case NOW:
        if (input.length == 4 && memcmp(input.data, "null", 4) == 0) now(done, context);
        else done(context, BP_INVALID_INPUT, text("`now` takes null"));
        return;
    case ECHO:
        done(context, BP_OK, input);
        return;
    default:
        done(context, BP_UNIMPLEMENTED, text("ClockManager has two methods, `now` and `echo`"));
    }
}

static const bp_component components[] = {{
    .size = sizeof(bp_component),
    .role = BP_MANAGER,
    .class_name = BP_TEXT("ClockManager"),
    .version = BP_TEXT("1.0.0"),
    .contract = BP_TEXT("WallTime"),
    .contract_version = BP_TEXT("1.0.0"),
    .methods = methods,
    .method_count = sizeof methods / sizeof *methods,
    .create = create,
    .call = call,
}};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    bp_answer own = {
        .abi = abi,
        .id = BP_TEXT("org.backplane.clock"),
        .version = BP_TEXT("1.0.0"),
        .toolchain = BP_TEXT(__VERSION__),
        .components = components,
        .component_count = sizeof components / sizeof *components,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    own.size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
