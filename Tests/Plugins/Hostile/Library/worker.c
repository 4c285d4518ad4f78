/* A manager whose method ends its host, or might, as the setting `work` says. */
#define _GNU_SOURCE
#include "../../fixture.h"

#include <sys/resource.h>
#include <unistd.h>

static const bp_method methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("work")}};

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const char *work = setting("work") ? setting("work") : "";
    (void)self, (void)method, (void)input, (void)frame, (void)id;
    if (strcmp(work, "abort") == 0) abort();
    if (strcmp(work, "without memory") == 0) {      /* as a runtime finds out that ends a process which gets no more */
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_AS, &none);
        abort();
    }
    if (strcmp(work, "closed pipe") == 0) {
        int ends[2];
        if (pipe(ends) == 0) close(ends[0]);
        done(context, BP_OK, text(write(ends[1], "x", 1) == 1 ? "true" : "false"));
        return;
    }
    done(context, BP_OK, text("1"));
}

const bp_component worker[] = {
    {CLASS(BP_MANAGER, "Worker", "Work"), .methods = methods, .method_count = 1, .create = create_handles,
     .release = free, .call = call},
    {0},
};
