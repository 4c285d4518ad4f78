/* A manager that returns the frame of each call. */
#include "../fixture.h"

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("frame")}, {sizeof(bp_method), BP_SYNC, BP_TEXT("frameNow")}};

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    char json[1024];
    int length = snprintf(json, sizeof json, "{\"deadline\": %lld, \"path\": [", (long long)frame->deadline_ns);
    for (uint32_t i = 0; i < (frame->flags & BP_CALL_PATH_COUNT); i++) {
        length += snprintf(json + length, sizeof json - length, "%s%u", i ? "," : "", frame->path[i]);
    }
    length += snprintf(json + length, sizeof json - length, "], \"trace\": [");
    for (int i = 0; i < 32; i++) length += snprintf(json + length, sizeof json - length, "%s%u", i ? "," : "",
        frame->trace[i]);
    snprintf(json + length, sizeof json - length, "]}");
    done(context, BP_OK, text(json));
}

const bp_component frames[] = {
    {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("FramesInC"), .version = BP_TEXT("1.0.0"),
     .contract = BP_TEXT("Frames"), .contract_version = BP_TEXT("1.1.0"), .methods = methods, .method_count = 2,
     .create = create_handles, .release = free, .call = call},
    {0},
};
