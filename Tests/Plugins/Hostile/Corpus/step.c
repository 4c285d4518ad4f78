/* Faults of a component in its lifecycle steps. */
#define _GNU_SOURCE
#if defined(CREATE_NEVER) || defined(CREATE_LOOPS) || defined(CREATE_FAILS) || defined(CREATE_NOTHING) || defined(CREATE_TWICE) || defined(ALONE)
#define HAS_CREATE
#elif defined(ACTIVATE_NEVER)
#define ACTIVATE never
#elif defined(ACTIVATE_FAILS)
#define ACTIVATE failing
#elif defined(ACTIVATE_ABORTS)
#define ACTIVATE aborting
#elif defined(ACTIVATE_TWICE)
#define ACTIVATE repeating
#elif defined(SUSPEND_FAILS)
#define SUSPEND failing
#elif defined(STOP_NEVER)
#define STOP never
#elif defined(STOP_ABORTS)
#define STOP aborting
#elif defined(POOL_USED)
#define ACTIVATE waiting_elsewhere
#elif defined(PROCESS_LEFT)
#define ACTIVATE forking
#elif defined(FILE_LEFT)
#define ACTIVATE opening
#elif defined(RELEASE_ABORTS)
#define RELEASE falling
#elif defined(STATE_FORGETS) || defined(STATE_REFUSED) || defined(STATE_REORDERS)
#define STATE &kept_state
#endif

#include "backplane.h"

static void create(void *type, const bp_creation *creation, bp_created done, void *context);
static void never(void *self, bp_done done, void *context);
static void failing(void *self, bp_done done, void *context);
static void aborting(void *self, bp_done done, void *context);
static void repeating(void *self, bp_done done, void *context);
static void starting(void *self, bp_done done, void *context);
static void disguising(void *self, bp_done done, void *context);
static void starting_elsewhere(void *self, bp_done done, void *context);
static void waiting_elsewhere(void *self, bp_done done, void *context);
static void forking(void *self, bp_done done, void *context);
static void opening(void *self, bp_done done, void *context);
static void falling(void *self);
static void export_state(void *self, uint32_t version, bp_done done, void *context);
static void import_state(void *self, uint32_t version, bp_bytes bytes, bp_done done, void *context);

__attribute__((used)) static const bp_state kept_state = {sizeof(bp_state), 1, BP_TEXT("Work"), 1, 1, 1, 0, export_state, import_state, NULL};

#include "plugin.h"

#ifdef HAS_CREATE
static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
    static char one, made;
    (void)type;
    (void)creation;
#if defined(CREATE_NEVER)
    (void)done;
    (void)context;
#elif defined(CREATE_LOOPS)
    linger(NULL);
#elif defined(CREATE_FAILS)
    done(context, BP_FAILED, NULL, text("not today"));
#elif defined(CREATE_NOTHING)
    done(context, BP_OK, NULL, text(""));
#elif defined(CREATE_TWICE)
    done(context, BP_OK, &one, text(""));
    done(context, BP_OK, &one, text(""));
#elif defined(ALONE)
    if (made++) done(context, BP_FAILED, NULL, text("the port is taken"));
    else done(context, BP_OK, &one, text(""));
#endif
    (void)one;
    (void)made;
}
#endif

#define STEP __attribute__((used)) static void

STEP never(void *self, bp_done done, void *context) {
    (void)self;
    (void)done;
    (void)context;
}

STEP failing(void *self, bp_done done, void *context) {
    (void)self;
    done(context, BP_FAILED, text("not now"));
}

STEP aborting(void *self, bp_done done, void *context) {
    (void)self;
    (void)done;
    (void)context;
    abort();
}

STEP repeating(void *self, bp_done done, void *context) {
    (void)self;
    for (int times = 0; times < 3; times++) done(context, BP_OK, text(""));
}

#if defined(POOL_USED)
/* Functions of libdispatch, which every process with Swift contains. */
extern void *dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
extern uint64_t dispatch_time(uint64_t when, int64_t nanoseconds);
extern void dispatch_after_f(uint64_t when, void *queue, void *context, void (*work)(void *));

static struct {
    bp_done done;
    void *context;
} asker;

static void end(void *nothing) {
    (void)nothing;
    asker.done(asker.context, BP_OK, text(""));
}

STEP waiting_elsewhere(void *self, bp_done done, void *context) {
    (void)self;
    asker.done = done;
    asker.context = context;
    dispatch_after_f(dispatch_time(0, 20000000), dispatch_get_global_queue(0, 0), NULL, end);
}
#endif

/* The forked process ends itself when its host has ended. */
STEP forking(void *self, bp_done done, void *context) {
    const pid_t host = getpid();
    (void)self;
    if (fork() == 0) {
        while (getppid() == host) usleep(20000);
        _exit(0);
    }
    done(context, BP_OK, text(""));
}

STEP opening(void *self, bp_done done, void *context) {
    (void)self;
    (void)!open("/dev/zero", O_RDONLY);
    done(context, BP_OK, text(""));
}

STEP falling(void *self) {
    (void)self;
    abort();
}

STEP export_state(void *self, uint32_t version, bp_done done, void *context) {
    static char count = '0';
    (void)self;
    (void)version;
    count++;
#ifdef STATE_REORDERS
    done(context, BP_OK, count % 2 ? text("[1, 2]") : text("[2, 1]"));
#else
    done(context, BP_OK, (bp_bytes){(const uint8_t *)&count, 1});
#endif
}

STEP import_state(void *self, uint32_t version, bp_bytes bytes, bp_done done, void *context) {
    (void)self;
    (void)version;
    (void)bytes;
#ifdef STATE_REFUSED
    done(context, BP_FAILED, text("what is this?"));
#else
    done(context, BP_OK, text(""));
#endif
}
