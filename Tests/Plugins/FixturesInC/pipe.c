/* A manager in C that provides streams, and reads the streams of a collaborator, which is a manager in Swift. */
#include "../fixture.h"

#include <pthread.h>

/* The contract `Pipe`. */
enum {
    NUMBERS,            /* the numbers from 0 up to the input                                 */
    THROUGH,            /* the same, from the collaborator, whose answers are forwarded       */
    SUM,                /* an asynchronous method: the sum of the collaborator's numbers      */
    OPEN, RELEASED,     /* synchronous: the numbers of open streams, and of released instances */
    EMPTY, TOO_MANY, NO_ARRAY, NOT_JSON,                /* faulty streams */
    LET_GO,             /* synchronous: lets the openings of STUCK streams return              */
    TWO_AT_ONCE, CLOSED_TWICE, AFTER_END,               /* asynchronous: a faulty consumer */
    STUCK,              /* a stream whose opening returns after LET_GO                        */
    ONE_TOO_MANY,       /* asynchronous: opens more streams than a component may have         */
    METHODS
};

static const bp_method methods[METHODS] = {
    {sizeof(bp_method), BP_STREAM, BP_TEXT("numbers")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("through")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("sum")}, {sizeof(bp_method), BP_SYNC, BP_TEXT("open")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("released")},
    {sizeof(bp_method), BP_STREAM, BP_TEXT("empty")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("tooMany")},
    {sizeof(bp_method), BP_STREAM, BP_TEXT("noArray")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("notJSON")},
    {sizeof(bp_method), BP_SYNC, BP_TEXT("letGo")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("twoAtOnce")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("closedTwice")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("afterEnd")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("stuck")},
    {sizeof(bp_method), BP_ASYNC, BP_TEXT("oneTooMany")},
};

/* The streams that it reads from its collaborator. */
enum { COUNT, SILENT };
static const bp_method needed[] = {
    {sizeof(bp_method), BP_STREAM, BP_TEXT("count")}, {sizeof(bp_method), BP_STREAM, BP_TEXT("silent")},
};
static const bp_wire wires[] = {{sizeof(bp_wire), 0, BP_TEXT("source"), BP_TEXT("Sequences"), BP_TEXT("1.0.0"), needed,
                                 sizeof needed / sizeof *needed, NULL}};

/* An open stream. */
typedef struct stream {
    struct stream *other;
    handles *owner;
    uint64_t id;
    uint32_t method;
    long next, end;
    int is_invalid;
    uint64_t source;                /* THROUGH: the collaborator's stream */
} stream;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stream *streams;
static long released;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static int is_let_go;

static bp_bytes printed(char *buffer, size_t size, long number) {
    bp_bytes bytes = {(const uint8_t *)buffer, (size_t)snprintf(buffer, size, "%ld", number)};
    return bytes;
}

/* Reads a number from JSON; `null` and invalid numbers are 0. */
static long number(bp_bytes json, int *is_invalid) {
    char copy[32] = "";
    char *end = copy;
    memcpy(copy, json.data, json.length < sizeof copy - 1 ? json.length : sizeof copy - 1);
    long value = strtol(copy, &end, 10);
    *is_invalid = *end != 0 && strcmp(copy, "null") != 0;
    return value;
}

static stream *find(uint64_t id) {
    pthread_mutex_lock(&lock);
    stream *found = streams;
    while (found && found->id != id) found = found->other;
    pthread_mutex_unlock(&lock);
    return found;
}

/* --------------------------------------------------------------------------------------- providing streams */

static void open_stream(void *self, uint32_t method, bp_bytes input, const bp_call *call, uint64_t id) {
    stream *new = calloc(1, sizeof *new);
    new->owner = self;
    new->id = id;
    new->method = method;
    new->end = number(input, &new->is_invalid);
    if (method == THROUGH) {
        const bp_streams_1 *table = get_interface(text(BP_STREAMS), 1);
        new->source = table->open(new->owner->handle, new->owner->wire, COUNT, input, call);
    }
    pthread_mutex_lock(&lock);
    while (method == STUCK && !is_let_go) pthread_cond_wait(&let_go, &lock);
    new->other = streams;
    streams = new;
    pthread_mutex_unlock(&lock);
}

static void next_elements(void *self, uint64_t id, uint32_t max, bp_done done, void *context) {
    stream *own = find(id);
    char array[64 * 24] = "[";
    size_t length = 1;
    if (own->is_invalid) {
        done(context, BP_INVALID_INPUT, text("expected a number"));
        return;
    }
    switch (own->method) {
    case THROUGH: {
        const bp_streams_1 *table = get_interface(text(BP_STREAMS), 1);
        table->next(own->owner->handle, own->source, max, done, context);
        return;
    }
    case EMPTY: done(context, BP_OK, text("[]")); return;
    case NO_ARRAY: done(context, BP_OK, text("{\"a\": 1}")); return;
    case NOT_JSON: done(context, BP_OK, text("[1, ")); return;
    case TOO_MANY: {
        char *many = malloc(max * 2 + 4);
        many[0] = '[';
        for (uint32_t i = 0; i <= max; i++) memcpy(many + 1 + 2 * i, "1,", 2);
        many[2 * (max + 1)] = ']';
        bp_bytes bytes = {(const uint8_t *)many, 2 * ((size_t)max + 1) + 1};
        done(context, BP_OK, bytes);
        free(many);
        return;
    }
    default: break;
    }
    if (own->next >= own->end) {
        done(context, BP_END, text(""));
        return;
    }
    for (uint32_t i = 0; i < max && i < 64 && own->next < own->end; i++)
        length += (size_t)snprintf(array + length, sizeof array - length, "%s%ld", i ? "," : "", own->next++);
    array[length++] = ']';
    bp_bytes bytes = {(const uint8_t *)array, length};
    done(context, BP_OK, bytes);
}

static void close_stream(void *self, uint64_t id, bp_done done, void *context) {
    pthread_mutex_lock(&lock);
    stream **place = &streams;
    while ((*place)->id != id) place = &(*place)->other;
    stream *own = *place;
    *place = own->other;
    pthread_mutex_unlock(&lock);
    if (own->method == THROUGH) {
        const bp_streams_1 *table = get_interface(text(BP_STREAMS), 1);
        table->close(own->owner->handle, own->source);
    }
    free(own);
    done(context, BP_OK, text(""));
}

/* ----------------------------------------------------------------------------------------- reading streams */

/* A call that reads a stream to its end. */
typedef struct reader {
    uint64_t handle, stream;
    long sum;
    bp_done done;
    void *context;
    uint32_t method;
} reader;

static void finish(reader *own, int32_t status, bp_bytes payload) {
    const bp_streams_1 *table = get_interface(text(BP_STREAMS), 1);
    table->close(own->handle, own->stream);
    if (own->method == CLOSED_TWICE) table->close(own->handle, own->stream);
    own->done(own->context, status, payload);
    free(own);
}

static void received_after_end(void *context, int32_t status, bp_bytes payload) {
    finish(context, BP_OK, text(status == BP_END ? "\"the end again\"" : "\"something else\""));
}

static void received(void *context, int32_t status, bp_bytes payload) {
    const bp_streams_1 *table = get_interface(text(BP_STREAMS), 1);
    reader *own = context;
    char buffer[32];
    if (status == BP_END && own->method == AFTER_END) {
        table->next(own->handle, own->stream, 5, received_after_end, own);
    } else if (status == BP_END) {
        finish(own, BP_OK, printed(buffer, sizeof buffer, own->sum));
    } else if (status != BP_OK) {
        finish(own, status, payload);
    } else {
        /* "[1,2,3]" */
        for (size_t i = 1; i < payload.length; i++) {
            long value = 0;
            for (; i < payload.length && payload.data[i] >= '0' && payload.data[i] <= '9'; i++)
                value = value * 10 + (payload.data[i] - '0');
            own->sum += value;
        }
        table->next(own->handle, own->stream, 5, received, own);
    }
}

/* Opens nonexistent streams until the limit is exceeded, and answers with that error. */
static void open_too_many(handles *own, const bp_call *frame, bp_done done, void *context) {
    const bp_streams_1 *table = get_interface(text(BP_STREAMS), 1);
    enum { MANY = 65536 };
    uint64_t *open = calloc(MANY, sizeof *open);
    for (int i = 0; i < MANY; i++) open[i] = table->open(own->handle, own->wire, 99, text("null"), frame);
    uint64_t further = table->open(own->handle, own->wire, COUNT, text("1"), frame);
    table->next(own->handle, further, 1, done, context);
    table->close(own->handle, further);
    for (int i = 0; i < MANY; i++) table->close(own->handle, open[i]);
    free(open);
}

static void ignored(void *context, int32_t status, bp_bytes payload) {
}

static void call(
    void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    const bp_streams_1 *table = get_interface(text(BP_STREAMS), 1);
    handles *own = self;
    char buffer[32];
    long count = 0;
    switch (method) {
    case OPEN:
        pthread_mutex_lock(&lock);
        for (stream *each = streams; each; each = each->other) count++;
        pthread_mutex_unlock(&lock);
        done(context, BP_OK, printed(buffer, sizeof buffer, count));
        return;
    case RELEASED: done(context, BP_OK, printed(buffer, sizeof buffer, released)); return;
    case LET_GO:
        pthread_mutex_lock(&lock);
        is_let_go = 1;
        pthread_cond_broadcast(&let_go);
        pthread_mutex_unlock(&lock);
        done(context, BP_OK, text("null"));
        return;
    case ONE_TOO_MANY: open_too_many(own, frame, done, context); return;
    case TWO_AT_ONCE: {
        uint64_t silent = table->open(own->handle, own->wire, SILENT, text("null"), frame);
        table->next(own->handle, silent, 1, ignored, NULL);
        table->next(own->handle, silent, 1, done, context);
        table->close(own->handle, silent);
        return;
    }
    default: break;
    }
    reader *reading = calloc(1, sizeof *reading);
    reading->handle = own->handle;
    reading->method = method;
    reading->done = done;
    reading->context = context;
    reading->stream = table->open(own->handle, own->wire, COUNT, input, frame);
    table->next(reading->handle, reading->stream, 5, received, reading);
}

/* ------------------------------------------------------------------------------------------------ the plugin */

static void release(void *instance) {
    pthread_mutex_lock(&lock);
    released++;
    pthread_mutex_unlock(&lock);
    free(instance);
}

const bp_component pipes[] = {
    {CLASS(BP_MANAGER, "Pipe", "Pipe"), .methods = methods, .method_count = METHODS, .wires = wires, .wire_count = 1,
     .create = create_handles, .release = release, .call = call, .open = open_stream, .next = next_elements,
     .close = close_stream},
    {0},
};
