/* A library that does what the header forbids, as its settings say; without settings, it does nothing wrong. The
 * settings `loaded`, `entered`, `work` and `ended` contain statements to run when the library is loaded, in its entry,
 * in the method of `Worker`, and when the process ends. Statements are separated by `; ` and run in the order in which
 * this file lists them. */
#define _GNU_SOURCE
#define FIXTURE_ID "org.backplane.tests.hostile"
#include "../../fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

/* As large as a library's debug information; it is not loaded into memory. */
__asm__(".section .bulk,\"\",@progbits\n.fill 700000, 1, 0x5A\n.text");

static int has(const char *list, const char *statement) {
    const size_t length = strlen(statement);
    for (const char *at = list; (at = strstr(at, statement)); at++) {
        const int begins = at == list || at[-1] == ' ', ends = at[length] == 0 || at[length] == ';';
        if (begins && ends) return 1;
    }
    return 0;
}

#define DO(...) if (has(list, #__VA_ARGS__)) { __VA_ARGS__; }
#define NOWHERE ((const void *)(uintptr_t)64)       /* an address without memory */

/* ------------------------------------------------------------------------------------------- at any moment */

static void create_file(const char *name) { close(creat(setting(name), 0600)); }

static void note_process(void) {
    FILE *file = fopen(setting("file"), "a");
    fprintf(file, "%d\n", getpid());
    fclose(file);
}

static void wait_for_file(const char *name) {
    while (access(setting(name), F_OK)) usleep(1000);
}

/* Locks a file and forks; the new process also holds the lock, and creates a file. */
static void lock_and_fork(void) {
    flock(open(setting("lock"), O_RDWR | O_CREAT, 0600), LOCK_EX);
    if (fork() == 0) create_file("file");
}

/* Starts a process that holds the pipe open, in its own session, so that signals to the process group miss it. */
static void start_process(void) {
    (void)!open(setting("pipe"), O_WRONLY);
    alarm(0);
    signal(SIGCHLD, SIG_IGN);
    if (fork() == 0) {
        setsid();
        alarm(600);
        for (;;) pause();
    }
}

/* Makes all further allocations fail, after which a runtime ends the process. */
static void leave_no_memory(void) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_AS, &none);
}

static void write_to_closed_pipe(void) {
    int ends[2];
    if (pipe(ends) == 0) close(ends[0]);
    if (write(ends[1], "x", 1) == 1) abort();
}

static void run(const char *list) {
    if (!list) return;
    DO(fprintf(stderr, "first\nall is lost\n"))
    DO((void)!write(2, "no licence\n", 11))
    DO(create_file("begun"))
    DO(create_file("file"))
    DO(note_process())
    DO(wait_for_file("gate"))
    DO(lock_and_fork())
    DO(start_process())
    DO(leave_no_memory())
    DO(write_to_closed_pipe())
    DO(abort())
    DO(__builtin_trap())
    DO(*(volatile int *)8 = 1)
    DO(exit(0))
    DO(exit(3))
    DO(exit(7))
    DO(_exit(0))
    DO(_exit(9))
    DO(for (;;) pause())
}

__attribute__((constructor)) static void loaded(void) { run(setting("loaded")); }
__attribute__((destructor)) static void ended(void) { run(setting("ended")); }

/* ------------------------------------------------------------------------------------------- unruly classes */

static uint64_t handle;
static char instance;

static void say(const char *message) {
    const bp_log_1 *log = get_interface(text(BP_LOG), 1);
    log->write(handle, BP_LOG_INFO, text(message), NULL, 0);
}

/* A pending answer. */
static struct { bp_done done; void *context; } owed;

static void answered(void *context, int32_t status, const bp_http_response *response, bp_bytes payload) {
    owed.done(owed.context, status, payload);
}

enum { TWICE, NEVER, LATER, SETTLE, SLOW, NO_JSON, FETCH, HAS, METHODS };
static const bp_method methods[] = {
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("twice")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("never")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("later")},        /* answered by settle */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("settle")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("slow")},          /* answered by settle, although it must not wait */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("noJSON")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("fetch")},        /* a manager that uses backplane.http */
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("has")},          /* the interface of that name, revision 1 */
};

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    switch (method) {
    case TWICE:
        done(context, BP_OK, text("1"));
        done(context, BP_OK, text("2"));
        done(context, BP_FAILED, text("3"));
        return;
    case NEVER: return;
    case LATER: case SLOW:
        owed.done = done;
        owed.context = context;
        return;
    case SETTLE:
        if (owed.done) owed.done(owed.context, BP_OK, text("\"late\""));
        done(context, BP_OK, text("null"));
        return;
    case NO_JSON: done(context, BP_OK, text("}{\xff")); return;
    case FETCH: {
        const bp_http_1 *http = get_interface(text(BP_HTTP), 1);
        bp_http_request request = {.size = sizeof request, .method = BP_TEXT("GET"), .url = BP_TEXT("file:manifest")};
        owed.done = done;
        owed.context = context;
        http->send(handle, &request, frame, answered, NULL);
        return;
    }
    case HAS: done(context, BP_OK, text(get_interface(input, 1) ? "true" : "false")); return;
    default: done(context, BP_UNIMPLEMENTED, text(""));
    }
}

static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    handle = creation->handle;
    done(context, BP_OK, &instance, text(""));
}
static void create_and_say(void *type, const bp_creation *creation, bp_created done, void *context) {
    create(type, creation, done, context);
    say("created");
}
static void create_twice(void *type, const bp_creation *creation, bp_created done, void *context) {
    create(type, creation, done, context);
    done(context, BP_FAILED, NULL, text("after all not"));
}
static void create_blocking(void *type, const bp_creation *creation, bp_created done, void *context) {
    for (;;) pause();
}
static void create_never(void *type, const bp_creation *creation, bp_created done, void *context) {}
static void never(void *self, bp_done done, void *context) {}
static void twice(void *self, bp_done done, void *context) {
    done(context, BP_OK, text(""));
    done(context, BP_FAILED, text("after all not"));
}
static void release(void *self) { say("released"); }

/* Reviews of configurations. */
static void review_twice(void *type, bp_bytes configuration, bp_done done, void *context) {
    done(context, BP_OK, text("[\"/odd\"]"));
    done(context, BP_FAILED, text("after all not"));
    done(NULL, BP_OK, text("[]"));
}
static void review_never(void *type, bp_bytes configuration, bp_done done, void *context) {
    if (owed.done) owed.done(owed.context, BP_OK, text("[]"));
    owed.done = done;
    owed.context = context;
}
static void review_nonsense(void *type, bp_bytes configuration, bp_done done, void *context) {
    done(context, BP_OK, text("}{\xff"));
}

#define UNRULY(name) \
    CLASS(BP_MANAGER, name, "Unruliness"), .methods = methods, .method_count = METHODS, .call = call, .release = release

static const bp_component unruly[] = {
    {UNRULY("Unruly"), .create = create},
    {UNRULY("MadeTwice"), .create = create_twice, .activate = twice, .stop = twice},
    {UNRULY("NeverMade"), .create = create_never},
    {UNRULY("MadeForEver"), .create = create_blocking},
    {UNRULY("NeverActive"), .create = create_and_say, .activate = never},
    {UNRULY("NeverStopped"), .create = create, .stop = never},
    {0},
};

static void work(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    run(setting("work"));
    done(context, BP_OK, text("1"));
}

static const bp_method works[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("work")}};
static const bp_component worker[] = {
    {CLASS(BP_MANAGER, "Worker", "Work"), .methods = works, .method_count = 1, .create = create_handles,
     .release = free, .call = work},
    {0},
};

/* ------------------------------------------------------------------------------------------- the entry */

/* Updates the hash of the table. */
#define REHASH own.self_check.layout_hash = bp_layout_hash(own.self_check.fields, own.self_check.field_count)

/* Checks the offer of a trial process: everything that a host offers, with services that do nothing. */
static void check(const bp_offer *offer) {
    const bp_log_1 *log = offer->get_interface(text(BP_LOG), 1);
    const bp_calls_1 *calls = offer->get_interface(text(BP_CALLS), 1);
    const bp_http_1 *http = offer->get_interface(text(BP_HTTP), 1);
    const bp_store_1 *store = offer->get_interface(text(BP_STORE), 1);
    const bp_store_2 *store2 = offer->get_interface(text(BP_STORE), 2);
    const bp_timers_1 *timers = offer->get_interface(text(BP_TIMERS), 1);
    if (!log || !calls || !http || !store || !store2 || !timers) abort();
    if (store2->size != sizeof *store2 || timers->size != sizeof *timers) abort();
    if (log->size != sizeof *log || calls->size != sizeof *calls) abort();
    if (http->size != sizeof *http || store->size != sizeof *store) abort();
    if (offer->get_interface(text(BP_LOG), 9)) abort();
    if (offer->get_interface(text("nothing"), 1)) abort();
    if (offer->toolchain.length == 0 || offer->host_version.length == 0 || offer->lane_revision == 0) abort();
    log->write(0, BP_LOG_INFO, text("here"), NULL, 0);
}

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    static const bp_component *const lists[] = {unruly, culprit, trespasser, worker};
    static bp_component components[16];
    const char *list = setting("entered") ? setting("entered") : "";
    if (bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX) == BP_NO_ABI) return BP_UNIMPLEMENTED;
    get_interface = offer->get_interface;
    bp_answer own = answer_with(lists, sizeof lists / sizeof *lists, components);

    /* Replacements for parts of the answer, which the statements change: a turnstile and the table of the layout. */
    static bp_component changed;
    static bp_method method;
    static bp_wire wire;
    static bp_state state;
    static bp_field layout[] = BP_LAYOUT;
    static const void *lane[4] = {lane, NOWHERE};
    changed = *culprit, method = *culprit->methods, state = *culprit->state;
    wire = (bp_wire){
        .size = sizeof wire, .flags = BP_WIRE_OPTIONAL, .label = text("other"), .contract = text("Turnstile"),
        .contract_version = text("1.0.0"), .methods = culprit->methods, .method_count = 1};
    changed.methods = &method, changed.wires = &wire, changed.wire_count = 1;
    own.self_check.fields = layout;

    run(list);
    DO(check(offer))
    DO(return 42)
    DO(return BP_FAILED)
    DO(return BP_UNIMPLEMENTED)
    DO(*(volatile int *)NOWHERE = 1)
    if (goes_wrong("ENTRY")) return BP_FAILED;

    DO(own.components = &changed)
    DO(own.component_count = 1)
    DO(changed.size = 7)
    DO(changed.class_name.data = NOWHERE)
    DO(changed.version.data = NOWHERE)
    DO(changed.contract.data = NOWHERE)
    DO(changed.contract_version.data = NOWHERE)
    DO(changed.methods = NOWHERE)
    DO(method.name.data = NOWHERE)
    DO(changed.wires = NOWHERE)
    DO(changed.wire_count = 1)
    DO(wire.label.data = NOWHERE)
    DO(wire.contract.data = NOWHERE)
    DO(wire.contract_version.data = NOWHERE)
    DO(wire.methods = NOWHERE)
    DO(changed.state = NOWHERE)
    DO(changed.state = &state)
    DO(state.schema.data = NOWHERE)
    DO(own.lane_revision = offer->lane_revision)
    DO(changed.lane = NOWHERE)
    DO(changed.lane = lane)
    DO(wire.lane = NOWHERE)
    DO(own.components = NOWHERE)
    DO(own.components = (const void *)((uintptr_t)NOWHERE + 1))
    DO(own.component_count = 65536)
    DO(own.component_count = (size_t)-1)
    DO(own.components = NULL)
    DO(components[0].size = 4)
    DO(components[0].role = 9)
    DO(components[0].create = NULL)
    DO(components[0].call = NULL)
    DO(components[0].class_name = text("\xff"))
    DO(components[1].class_name = components[0].class_name)
    DO(components[0].methods = NULL)
    DO(components[0].contract_version = text(""))
    DO(components[0].annotation = text("{"))
    DO(components[0].annotation.length = 300000)
    static const bp_method same_methods[] = {
        {sizeof(bp_method), BP_SYNC, BP_TEXT("a")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("a")}};
    DO(components[0].methods = same_methods)
    DO(components[0].method_count = 2)
    static const bp_wire same_wires[] = {
        {.size = sizeof(bp_wire), .label = BP_TEXT("w"), .contract = BP_TEXT("C"), .contract_version = BP_TEXT("1")},
        {.size = sizeof(bp_wire), .label = BP_TEXT("w"), .contract = BP_TEXT("C"), .contract_version = BP_TEXT("1")}};
    DO(components[0].wires = same_wires)
    DO(components[0].wire_count = 2)
    DO(components[0].review = components[1].review = review_twice)
    DO(components[0].review = components[1].review = review_never)
    DO(components[0].review = components[1].review = review_nonsense)

    DO(own.abi = 99)
    DO(own.id.data = NOWHERE)
    DO(own.id.data = NULL)
    DO(own.id = text("\xff\xfe"))
    DO(own.id = text(""))
    DO(own.id = text("two words"))
    DO(own.id = text("org.example.other"))
    DO(own.version.data = NOWHERE)
    DO(own.version = text("1.0.1"))
    DO(own.version = text("one"))
    DO(own.toolchain.data = NOWHERE)
    DO(own.toolchain.length = (size_t)-1)
    DO(own.problems = (bp_bytes){NOWHERE, 5})
    DO(own.problems = text("one\ntwo"))
    DO(own.size = 4096)
    DO(own.size = 8)
    DO(own.size = offsetof(bp_answer, self_check))

    DO(memset(&own.self_check, 0, sizeof own.self_check))
    DO(layout[3].offset = 6)
    DO(layout[3].size = 2)
    DO(layout[5].name = NULL)
    DO(own.self_check.fields = NULL)
    DO(own.self_check.fields = NOWHERE)
    DO(own.self_check.field_count = 0)
    DO(own.self_check.field_count = 70000)
    DO(own.self_check.field_count = (size_t)-1)
    DO(REHASH)
    DO(own.self_check.layout_hash = 0)
    DO(own.self_check.layout_hash = 1)
    DO(answer->size = 8)
    DO(return BP_OK)
    *answer = own;
    return BP_OK;
}
