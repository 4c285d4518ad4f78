/* Faults in the answers of a method. */
#if defined(TWICE)
#define WORK do { done(context, BP_OK, text("1")); done(context, BP_OK, text("2")); } while (0)
#elif defined(LATE)
#define WORK later(done, context)
#elif defined(LATE_SYNC)
#define KIND BP_SYNC
#define WORK later(done, context)
#elif defined(NEVER)
#define WORK (void)0
#define BAD_WORK (void)0
#elif defined(LOOPS)
#define WORK linger(NULL)
#define BAD_WORK linger(NULL)
#elif defined(ABORTS)
#define WORK abort()
#define BAD_WORK abort()
#elif defined(FAULTS)
#define WORK *(volatile int *)8 = 1
#define BAD_WORK *(volatile int *)8 = 1
#elif defined(ABORTS_ELSEWHERE)
#define WORK start_thread(fall, NULL)
#define BAD_WORK start_thread(fall, NULL)
#elif defined(EXITS)
#define WORK _exit(0)
#define BAD_WORK _exit(0)
#elif defined(FAILS_AT_LENGTH)
#define WORK at_length(done, context)
#define BAD_WORK at_length(done, context)
#elif defined(FAILS_UNREADABLY)
#define WORK done(context, BP_FAILED, text("no \xFF\xFE text"))
#define BAD_WORK WORK
#elif defined(FAILS_IN_CONTROL)
#define WORK done(context, BP_FAILED, text("\x1B[2Jbackplane: all is well\r\n"))
#define BAD_WORK WORK
#elif defined(FAILS_IN_PIECES)
#define WORK done(context, BP_ERROR, text("{\"code\": 1, "))
#define BAD_WORK WORK
#elif defined(STATUS_99)
#define WORK done(context, 99, text(""))
#define BAD_WORK WORK
#elif defined(NO_JSON)
#define WORK done(context, BP_OK, text("one"))
#elif defined(NO_BYTES)
#define WORK do { const bp_bytes none = {NULL, 5}; done(context, BP_OK, none); } while (0)
#elif defined(ACCEPTS)
#define BAD_WORK done(context, BP_OK, text("1"))
#elif defined(UNCANCELLED)
#define WORK (void)0
#define CANCEL ignore
#elif defined(WORKS_ON)
#define WORK later(done, context)
#define CANCEL ignore
#elif defined(TWICE_LATE)
#define WORK do { done(context, BP_OK, text("1")); soon(done, context); } while (0)
#elif defined(BYTE_ORDER_MARK)
#define WORK done(context, BP_OK, text("\xEF\xBB\xBF" "1"))
#elif defined(CANCEL_ABORTS)
#define CANCEL stumble
#endif

#include "backplane.h"
#include <stdlib.h>
#include <unistd.h>

static void later(bp_done done, void *context);
static void soon(bp_done done, void *context);
static void at_length(bp_done done, void *context);
static void *fall(void *nothing);
static void ignore(void *self, uint64_t id);
static void stumble(void *self, uint64_t id);

#include "plugin.h"

/* A call to answer later, and the delay in microseconds. */
typedef struct asker {
    bp_done done;
    void *context;
    useconds_t delay;
} asker;

static void *answer_later(void *context) {
    asker *to = context;
    usleep(to->delay);
    to->done(to->context, BP_OK, text("1"));
    free(to);
    return NULL;
}

static void answer_in(useconds_t delay, bp_done done, void *context) {
    asker *to = malloc(sizeof *to);
    to->done = done;
    to->context = context;
    to->delay = delay;
    start_thread(answer_later, to);
}

__attribute__((used)) static void later(bp_done done, void *context) { answer_in(2500000, done, context); }
__attribute__((used)) static void soon(bp_done done, void *context) { answer_in(300000, done, context); }

__attribute__((used)) static void at_length(bp_done done, void *context) {
    const size_t length = 10 << 20;
    char *letters = malloc(length);
    memset(letters, 'x', length);
    const bp_bytes payload = {(const uint8_t *)letters, length};
    done(context, BP_FAILED, payload);
    free(letters);
}

__attribute__((used)) static void *fall(void *nothing) {
    (void)nothing;
    abort();
}

__attribute__((used)) static void ignore(void *self, uint64_t id) {
    (void)self;
    (void)id;
}

__attribute__((used)) static void stumble(void *self, uint64_t id) {
    (void)self;
    (void)id;
    abort();
}
