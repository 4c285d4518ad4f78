/* A manager that says which edition of it this is and how often it was asked to count. The setting `edition.fails`
 * makes every call an error, `edition.starts=never` and `edition.stops=never` steps that do not end, and with
 * `edition.chats` it prints `tick`, so many microseconds apart. */
#include "../fixture.h"

#include <pthread.h>
#include <unistd.h>

static int counted;

static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("edition")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("count")}};

static void *chat(void *nothing) {
    const useconds_t pause = (useconds_t)atoi(setting("edition.chats"));
    for (;;) {
        puts("tick");
        if (pause > 0) usleep(pause);
    }
    return nothing;
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    pthread_t chatter;
    if (setting("edition.chats")) pthread_create(&chatter, 0, chat, 0);
    create_handles(type, creation, done, context);
}

static void activate(void *self, bp_done done, void *context) {
    if (setting("edition.starts")) puts("waiting");
    else done(context, BP_OK, text(""));
}

static void stop(void *self, bp_done done, void *context) {
    if (!setting("edition.stops")) done(context, BP_OK, text(""));
}

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    char number[16];
    if (method == 1) snprintf(number, sizeof number, "%d", ++counted);
    done(context, setting("edition.fails") ? BP_FAILED : BP_OK, text(method == 1 ? number : edition()));
}

const bp_component editions[] = {
    {CLASS(BP_MANAGER, "Edition", "Editions"), .methods = methods, .method_count = 2, .create = create,
     .activate = activate, .stop = stop, .release = free, .call = call},
    {0},
};
