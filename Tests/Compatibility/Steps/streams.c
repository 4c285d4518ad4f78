/* A plugin that uses what streams and `bp_log_1.write_for_call` added to ABI 0, and nothing that was added later.
 *
 * A spring gives as many drops as it is asked for, numbered from 0, in batches of as many as the consumer takes. A mill reads
 * them through its wire, one batch at a time, logs for the call that it serves how many there were, and answers with their
 * number. */
#include "backplane.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BP_IDENTITY("org.backplane.tests.brook", "1.0.0")

static const bp_log_1 *host_log;
static const bp_streams_1 *host_streams;

static bp_bytes text(const char *literal) {
    const bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
    return bytes;
}

static void write_line(uint64_t handle, const bp_call *frame, const char *message, const char *count) {
    const bp_pair metadata = {BP_TEXT("drops"), text(count)};
    /* An older host's table ends before it. */
    if (host_log->size > offsetof(bp_log_1, write_for_call) && host_log->write_for_call)
        host_log->write_for_call(handle, frame, 2, text(message), &metadata, 1);
    else
        host_log->write(handle, 2, text(message), &metadata, 1);
}

/* ---------------------------------------------------------------------------------------------------- the spring */

typedef struct drops {
    struct drops *next;
    uint64_t id;
    long given, wanted;     /* wanted: negative after a mistake */
} drops;

typedef struct {
    pthread_mutex_t lock;
    drops *open;
} spring;

static void create_spring(void *type, const bp_creation *creation, bp_created done, void *context) {
    spring *self = calloc(1, sizeof *self);
    (void)type, (void)creation;
    pthread_mutex_init(&self->lock, NULL);
    done(context, BP_OK, self, text(""));
}

static void release_spring(void *instance) {
    spring *self = instance;
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static void open_drops(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id) {
    spring *self = instance;
    drops *stream = calloc(1, sizeof *stream);
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

static void next_drops(void *instance, uint64_t id, uint32_t max, bp_done done, void *context) {
    spring *self = instance;
    drops *stream;
    pthread_mutex_lock(&self->lock);
    for (stream = self->open; stream->id != id; stream = stream->next);
    pthread_mutex_unlock(&self->lock);
    if (stream->wanted < 0) {
        done(context, BP_INVALID_INPUT, text("expected a number of drops"));
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

static void close_drops(void *instance, uint64_t id, bp_done done, void *context) {
    spring *self = instance;
    drops **place, *stream;
    pthread_mutex_lock(&self->lock);
    for (place = &self->open; (*place)->id != id; place = &(*place)->next);
    stream = *place;
    *place = stream->next;
    pthread_mutex_unlock(&self->lock);
    free(stream);
    done(context, BP_OK, text(""));
}

/* ------------------------------------------------------------------------------------------------------ the mill */

typedef struct {
    uint64_t handle, wire;
} mill;

/* One call of `grind`, which asks for the next batch when the one before has arrived. */
typedef struct {
    mill *owner;
    bp_call frame;
    uint64_t stream;
    long count;
    bp_done done;
    void *context;
} grinding;

static void create_mill(void *type, const bp_creation *creation, bp_created done, void *context) {
    mill *self = calloc(1, sizeof *self);
    (void)type;
    self->handle = creation->handle;
    self->wire = creation->wires[0].wire;
    done(context, BP_OK, self, text(""));
}

static void batch(void *context, int32_t status, bp_bytes payload) {
    grinding *work = context;
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
        write_line(work->owner->handle, &work->frame, "ground", count);
        work->done(work->context, BP_OK, text(count));
    } else {
        work->done(work->context, status, payload);
    }
    free(work);
}

static void call(void *instance, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
    grinding *work = calloc(1, sizeof *work);
    (void)method, (void)id;
    work->owner = instance;
    work->frame = *frame;
    work->done = done;
    work->context = context;
    work->stream = host_streams->open(work->owner->handle, work->owner->wire, 0, input, frame);
    host_streams->next(work->owner->handle, work->stream, 7, batch, work);
}

/* ------------------------------------------------------------------------------------------------------- both */

static const bp_method spring_methods[] = {{sizeof(bp_method), BP_STREAM, BP_TEXT("drops")}};    /* a number -> numbers */
static const bp_method mill_methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("grind")}};       /* a number -> it      */
static const bp_wire wires[] = {{sizeof(bp_wire), 0, BP_TEXT("spring"), BP_TEXT("Spring"), BP_TEXT("1.0.0"), spring_methods, 1, NULL}};

static const bp_component components[] = {
    {
        .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("SpringManager"), .version = BP_TEXT("1.0.0"),
        .contract = BP_TEXT("Spring"), .contract_version = BP_TEXT("1.0.0"), .methods = spring_methods, .method_count = 1,
        .create = create_spring, .release = release_spring,
        .open = open_drops, .next = next_drops, .close = close_drops,
    },
    {
        .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("MillManager"), .version = BP_TEXT("1.0.0"),
        .contract = BP_TEXT("Mill"), .contract_version = BP_TEXT("1.0.0"), .methods = mill_methods, .method_count = 1,
        .wires = wires, .wire_count = 1, .create = create_mill, .release = free, .call = call,
    },
};

int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
    const uint32_t abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX);
    const bp_answer own = {
        .size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own,
        .abi = abi,
        .id = BP_TEXT("org.backplane.tests.brook"),
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
