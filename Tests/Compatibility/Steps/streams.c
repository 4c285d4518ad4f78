/* A plugin that uses what streams and `bp_log_1.write_for_call` added to ABI 0, and nothing that was added later.
 *
 * A provider gives as many numbers as it is asked for, from 0, in batches of as many as the consumer takes. A reader reads
 * them through its wire, one batch at a time, logs for the call that it serves how many there were, and answers with their
 * number. */
#include "backplane.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.streams-step", "1.0.0")

static const bp_log_1 *host_log;
static const bp_streams_1 *host_streams;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

static void write_line(uint64_t handle, const bp_call *frame, const char *message, const char *count) {
    const bp_pair metadata = {BP_TEXT("numbers"), text(count)};
    /* An older host's table ends before it. */
    if (host_log->size > offsetof(bp_log_1, write_for_call) && host_log->write_for_call)
        host_log->write_for_call(handle, frame, 2, text(message), &metadata, 1);
    else
        host_log->write(handle, 2, text(message), &metadata, 1);
}

/* ---------------------------------------------------------------------------------------------------- the provider */

typedef struct numbers {
    struct numbers *next;
    uint64_t id;
    long given, wanted;     /* wanted: negative after a mistake */
} numbers;

typedef struct {
    pthread_mutex_t lock;
    numbers *open;
} provider;

static void create_provider(void *type, const bp_creation *creation, bp_created done, void *context) {
    provider *self = calloc(1, sizeof *self);
    (void)type, (void)creation;
    pthread_mutex_init(&self->lock, NULL);
    done(context, BP_OK, self, text(""));
}

static void release_provider(void *instance) {
    provider *self = instance;
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static void open_numbers(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id) {
    provider *self = instance;
    numbers *stream = calloc(1, sizeof *stream);
    char digits[16] = {0}, *end = digits;
    (void)method, (void)frame;
    if (input.length > 0 && input.length < sizeof digits) memcpy(digits, input.data, input.length);
    stream->id = id;
    stream->wanted = strtol(digits, &end, 10);
    if (end == digits || *end) stream->wanted = -1;
    pthread_mutex_lock(&self->lock);
    stream->next = self->open;
    self->open = stream;
    pthread_mutex_unlock(&self->lock);
}

static void next_numbers(void *instance, uint64_t id, uint32_t max, bp_done done, void *context) {
    provider *self = instance;
    numbers *stream;
    pthread_mutex_lock(&self->lock);
    for (stream = self->open; stream->id != id; stream = stream->next);
    pthread_mutex_unlock(&self->lock);
    if (stream->wanted < 0) {
        done(context, BP_INVALID_INPUT, text("expected a number of numbers"));
    } else if (stream->given == stream->wanted) {
        done(context, BP_END, text(""));
    } else {
        char json[2048], *place = json;
        for (uint32_t given = 0; given < max && given < 100 && stream->given < stream->wanted; given++)
            place += sprintf(place, "%c%ld", given ? ',' : '[', stream->given++);
        strcpy(place, "]");
        done(context, BP_OK, text(json));
    }
}

static void close_numbers(void *instance, uint64_t id, bp_done done, void *context) {
    provider *self = instance;
    numbers **place, *stream;
    pthread_mutex_lock(&self->lock);
    for (place = &self->open; (*place)->id != id; place = &(*place)->next);
    stream = *place;
    *place = stream->next;
    pthread_mutex_unlock(&self->lock);
    free(stream);
    done(context, BP_OK, text(""));
}

/* ------------------------------------------------------------------------------------------------------ the reader */

typedef struct {
    uint64_t handle, wire;
} reader;

/* One call of `count`, which asks for the next batch when the one before has arrived. */
typedef struct {
    reader *owner;
    bp_call frame;
    uint64_t stream;
    long count;
    bp_done done;
    void *context;
} reading;

static void create_reader(void *type, const bp_creation *creation, bp_created done, void *context) {
    reader *self = calloc(1, sizeof *self);
    (void)type;
    self->handle = creation->handle;
    self->wire = creation->wires[0].wire;
    done(context, BP_OK, self, text(""));
}

static void batch(void *context, int32_t status, bp_bytes payload) {
    reading *work = context;
    char count[16];
    if (status == BP_OK) {
        work->count++;
        for (size_t i = 0; i < payload.length; i++) work->count += payload.data[i] == ',';
        host_streams->next(work->owner->handle, work->stream, 7, batch, work);
        return;
    }
    host_streams->close(work->owner->handle, work->stream);
    snprintf(count, sizeof count, "%ld", work->count);
    if (status == BP_END) {
        write_line(work->owner->handle, &work->frame, "counted", count);
        work->done(work->context, BP_OK, text(count));
    } else {
        work->done(work->context, status, payload);
    }
    free(work);
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    reading *work = calloc(1, sizeof *work);
    (void)method, (void)id;
    work->owner = instance;
    work->frame = *frame;
    work->done = done;
    work->context = context;
    work->stream = host_streams->open(work->owner->handle, work->owner->wire, 0, input, frame);
    host_streams->next(work->owner->handle, work->stream, 7, batch, work);
}

/* ------------------------------------------------------------------------------------------------------- both */

static const bp_method provider_methods[] = {{sizeof(bp_method), BP_STREAM, BP_TEXT("numbers")}};    /* a number -> numbers */
static const bp_method reader_methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("count")}};       /* a number -> it      */
static const bp_wire wires[] = {{sizeof(bp_wire), 0, BP_TEXT("provider"), BP_TEXT("Numbers"), BP_TEXT("1.0.0"), provider_methods, 1, NULL}};

static const bp_component components[] = {
    {
        .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("NumbersManager"), .version = BP_TEXT("1.0.0"),
        .contract = BP_TEXT("Numbers"), .contract_version = BP_TEXT("1.0.0"), .methods = provider_methods, .method_count = 1,
        .create = create_provider, .release = release_provider,
        .open = open_numbers, .next = next_numbers, .close = close_numbers,
    },
    {
        .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("NumberReaderManager"), .version = BP_TEXT("1.0.0"),
        .contract = BP_TEXT("NumberReader"), .contract_version = BP_TEXT("1.0.0"), .methods = reader_methods, .method_count = 1,
        .wires = wires, .wire_count = 1, .create = create_reader, .release = free, .call = call,
    },
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.streams-step"),
        .version = BP_TEXT("1.0.0"),
        .components = components,
        .component_count = 2,
        .self_check = bp_check_self(),
    };
    if (abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
    const bp_bytes log_id = BP_TEXT(BP_LOG), streams_id = BP_TEXT(BP_STREAMS);
    host_log = offer->get_interface(log_id, 1);
    host_streams = offer->get_interface(streams_id, 1);
    if (!host_log || !host_streams) return BP_UNIMPLEMENTED;
    memcpy(answer, &own, own.size);
    return BP_OK;
}
