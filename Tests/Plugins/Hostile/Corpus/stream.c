/* Faults of a stream: `work` yields 0, 1 and 2, one at a time. */
#define KIND BP_STREAM
#if defined(TWICE)
#define NEXT do { element(stream->count); done(context, BP_OK, text(number)); done(context, BP_OK, text(number)); } while (0)
#elif defined(AFTER_END)
#define LAST do { done(context, BP_END, text("")); done(context, BP_OK, text("[3]")); } while (0)
#elif defined(NO_ELEMENTS)
#define NEXT done(context, BP_OK, text("[]"))
#elif defined(TOO_MANY)
#define NEXT more(max, done, context)
#elif defined(NO_ARRAY)
#define NEXT done(context, BP_OK, text("{\"number\": 1}"))
#elif defined(NO_JSON)
#define NEXT done(context, BP_OK, text("[one]"))
#elif defined(ACCEPTS)
#define ACCEPTED 1
#elif defined(WAITS)
#define NEXT keep(stream, done, context)
#elif defined(NEVER)
#define NEXT (void)0
#elif defined(CLOSE_NEVER)
#define CLOSED (void)0
#elif defined(CLOSE_TWICE)
#define CLOSED do { done(context, BP_OK, text("")); done(context, BP_OK, text("")); } while (0)
#elif defined(CLOSE_ABORTS)
#define CLOSED do { usleep(2500000); abort(); } while (0)    /* after the output of its consumer */
#endif

#ifndef NEXT
#define NEXT do { element(stream->count); done(context, BP_OK, text(number)); } while (0)
#endif
#ifndef LAST
#define LAST done(context, BP_END, text(""))
#endif
#ifndef CLOSED
#define CLOSED done(context, BP_OK, text(""))
#endif
#ifndef ACCEPTED
#define ACCEPTED is_null(input)
#endif

#define STREAMS .open = open_stream, .next = next, .close = close_stream
#include "backplane.h"
static void open_stream(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id);
static void next(void *self, uint64_t id, uint32_t max, bp_done done, void *context);
static void close_stream(void *self, uint64_t id, bp_done done, void *context);
#include "plugin.h"

/* The open streams; there are few, and several threads access them. */
typedef struct stream {
    uint64_t id;            /* 0 if the place is free */
    int count, is_refused;
    bp_done done;           /* the callback of a waiting `next` */
    void *context;
} stream;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stream streams[1024];
static _Thread_local char number[16];

static stream *find(uint64_t id) {
    stream *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t index = 0; index < 1024 && found == NULL; index++) {
        if (streams[index].id == id) found = &streams[index];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

__attribute__((used)) static void element(int count) { snprintf(number, sizeof number, "[%d]", count); }

__attribute__((used)) static void keep(stream *stream, bp_done done, void *context) {
    stream->done = done;
    stream->context = context;
}

__attribute__((used)) static void more(uint32_t max, bp_done done, void *context) {
    const size_t length = 2 * (size_t)max + 3;
    char *letters = malloc(length + 1);
    letters[0] = '[';
    for (uint32_t index = 0; index <= max; index++) memcpy(letters + 1 + 2 * index, "1,", 2);
    letters[length - 1] = ']';
    letters[length] = 0;
    done(context, BP_OK, text(letters));
    free(letters);
}

static void open_stream(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id) {
    (void)self, (void)method, (void)frame;
    stream *stream = find(0);
    stream->count = 0;
    stream->is_refused = !ACCEPTED;
    stream->done = NULL;
    stream->id = id;
}

static void next(void *self, uint64_t id, uint32_t max, bp_done done, void *context) {
    (void)self, (void)max;
    stream *stream = find(id);
    if (stream->is_refused) done(context, BP_INVALID_INPUT, text("`work` takes null"));
    else if (stream->count == 3) LAST;
    else NEXT;
    stream->count++;
}

static void close_stream(void *self, uint64_t id, bp_done done, void *context) {
    (void)self;
    stream *stream = find(id);
    if (stream->done != NULL) stream->done(stream->context, BP_CANCELLED, text("closed"));
    stream->id = 0;
    CLOSED;
}
