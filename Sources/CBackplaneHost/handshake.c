#include "handshake.h"

#include <string.h>

/* MARK: The offer */

/* The services are there, since a plugin may insist on them, and answer as they do after a component has stopped. */
static const bp_bytes over = BP_TEXT("the library is only being tried");

static int32_t is_enabled(uint64_t component, uint32_t level) { return (void)component, (void)level, 0; }

static void write_line(uint64_t component, uint32_t level, bp_bytes message, const bp_pair *metadata, size_t count) {
    (void)component, (void)level, (void)message, (void)metadata, (void)count;
}

static void write_line_for_call(uint64_t component, const bp_call *frame, uint32_t level, bp_bytes message,
                                const bp_pair *metadata, size_t count) {
    (void)component, (void)frame, (void)level, (void)message, (void)metadata, (void)count;
}

static void cancel(uint64_t component, uint64_t id) { (void)component, (void)id; }

static uint64_t call(uint64_t component, uint64_t wire, uint32_t method, bp_bytes input, const bp_call *frame,
                     bp_done done, void *context) {
    (void)component, (void)wire, (void)method, (void)input, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static void find(uint64_t component, bp_bytes manager, const bp_wire *needed, const bp_call *frame, bp_found done,
                 void *context) {
    (void)component, (void)manager, (void)needed, (void)frame;
    done(context, BP_RETIRED, NULL, over);
}

static void list(uint64_t component, const bp_wire *needed, bp_done done, void *context) {
    (void)component, (void)needed;
    done(context, BP_RETIRED, over);
}

static uint64_t open_stream(uint64_t component, uint64_t wire, uint32_t method, bp_bytes input, const bp_call *frame) {
    (void)component, (void)wire, (void)method, (void)input, (void)frame;
    return 1;
}

static void next(uint64_t component, uint64_t stream, uint32_t max, bp_done done, void *context) {
    (void)component, (void)stream, (void)max;
    done(context, BP_RETIRED, over);
}

static uint64_t send(uint64_t component, const bp_http_request *request, const bp_call *frame, bp_http_done done,
                     void *context) {
    (void)component, (void)request, (void)frame;
    done(context, BP_RETIRED, NULL, over);
    return 0;
}

static uint64_t open_exchange(uint64_t component, const bp_http_request *request, const bp_http_options *options,
                              const bp_source *source, const bp_http_exchange *exchange, const bp_call *frame) {
    (void)component, (void)request, (void)options, (void)frame;
    if (source && source->release) source->release(source->context);
    if (exchange->ended) exchange->ended(exchange->context, BP_RETIRED, over);
    return 0;
}

static void read_chunk(uint64_t component, uint64_t exchange, uint32_t number, uint64_t max, bp_chunk done,
                       void *context) {
    (void)component, (void)exchange, (void)number, (void)max;
    done(context, BP_RETIRED, over, NULL, 0);
}

static void judge(uint64_t component, uint64_t exchange, uint32_t verdict) {
    (void)component, (void)exchange, (void)verdict;
}

static uint64_t sign_in(uint64_t component, bp_bytes credential, bp_bytes account, const bp_pair *values,
                        size_t value_count, const bp_call *frame, bp_done done, void *context) {
    (void)component, (void)credential, (void)account, (void)values, (void)value_count, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static void sign_out(uint64_t component, bp_bytes credential, bp_bytes account, bp_done done, void *context) {
    (void)component, (void)credential, (void)account;
    done(context, BP_RETIRED, over);
}

static void change(uint64_t component, const bp_store_change *changes, size_t count, bp_done done, void *context) {
    (void)component, (void)changes, (void)count;
    done(context, BP_RETIRED, over);
}

static void query(uint64_t component, const bp_store_query *query, bp_store_done done, void *context) {
    (void)component, (void)query;
    done(context, BP_RETIRED, NULL, 0, 0, over);
}

static uint64_t define(uint64_t component, const bp_store_collection *collection, const bp_call *frame, bp_done done,
                       void *context) {
    (void)component, (void)collection, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static uint64_t apply(uint64_t component, const bp_store_batch *batch, const bp_call *frame, bp_store_written done,
                      void *context) {
    (void)component, (void)batch, (void)frame;
    done(context, BP_RETIRED, NULL, 0, over);
    return 0;
}

static uint64_t read_page(uint64_t component, const bp_store_selection *selection, const bp_call *frame,
                          bp_store_read done, void *context) {
    (void)component, (void)selection, (void)frame;
    done(context, BP_RETIRED, NULL, over);
    return 0;
}

static uint64_t count_records(uint64_t component, const bp_store_selection *selection, const bp_call *frame,
                              bp_done done, void *context) {
    (void)component, (void)selection, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static uint64_t read_changes(uint64_t component, bp_bytes collection, int64_t since, uint64_t limit,
                             const bp_call *frame, bp_store_changed done, void *context) {
    (void)component, (void)collection, (void)since, (void)limit, (void)frame;
    done(context, BP_RETIRED, NULL, over);
    return 0;
}

static void pull_body(uint64_t component, uint64_t body, uint64_t max, bp_chunk done, void *context) {
    (void)component, (void)body, (void)max;
    done(context, BP_RETIRED, over, NULL, 0);
}

static void push_body(
    uint64_t component, uint64_t body, bp_bytes piece, const bp_pair *trailers, size_t trailer_count, bp_done done,
    void *context) {
    (void)component, (void)body, (void)piece, (void)trailers, (void)trailer_count;
    done(context, BP_RETIRED, over);
}

static uint64_t begin_transfer(
    uint64_t component, const bp_transfer *transfer, const bp_call *frame, bp_done done, void *context) {
    (void)component, (void)transfer, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static uint64_t change_transfer(
    uint64_t component, bp_bytes id, uint32_t change, const bp_call *frame, bp_done done, void *context) {
    (void)component, (void)id, (void)change, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static uint64_t transfer_state(
    uint64_t component, bp_bytes id, uint64_t after, const bp_call *frame, bp_done done, void *context) {
    (void)component, (void)id, (void)after, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static uint64_t begin_operation(uint64_t component, const bp_operation *operation) {
    (void)component, (void)operation;
    return 0;
}

static uint64_t search(uint64_t component, const bp_store_search *search, const bp_call *frame, bp_store_read done,
                       void *context) {
    (void)component, (void)search, (void)frame;
    done(context, BP_RETIRED, NULL, over);
    return 0;
}

static uint64_t wait_for_changes(uint64_t component, bp_bytes collection, int64_t since, const bp_call *frame,
                                 bp_done done, void *context) {
    (void)component, (void)collection, (void)since, (void)frame;
    done(context, BP_RETIRED, over);
    return 0;
}

static uint64_t add_timer(uint64_t component, const bp_timer *timer, bp_done done, void *context) {
    (void)component, (void)timer;
    done(context, BP_RETIRED, over);
    return 0;
}

static const bp_log_1 log_1 = {sizeof log_1, 0, is_enabled, write_line, write_line_for_call};
static const bp_calls_1 calls_1 = {sizeof calls_1, 0, call, cancel, find, list};
static const bp_streams_1 streams_1 = {sizeof streams_1, 0, open_stream, next, cancel};
static const bp_http_1 http_1 = {sizeof http_1, 0, send, cancel};
static const bp_http_2 http_2 = {sizeof http_2, 0, open_exchange, read_chunk, judge, cancel, sign_in, sign_out};
static const bp_bodies_1 bodies_1 = {sizeof bodies_1, 0, pull_body, push_body};
static const bp_transfers_1 transfers_1 = {
    sizeof transfers_1, 0, begin_transfer, change_transfer, transfer_state, cancel};
static const bp_operations_1 operations_1 = {
    sizeof operations_1, 0, begin_operation, cancel};
static const bp_store_1 store_1 = {sizeof store_1, 0, change, query};
static const bp_store_2 store_2 = {
    sizeof store_2, 0, define, apply, read_page, count_records, read_changes, cancel, search,
    wait_for_changes};
static const bp_timers_1 timers_1 = {sizeof timers_1, 0, add_timer, cancel};

/* A service that is missing here is NULL, as in a host that is older than the service. */
static const void *get_interface(bp_bytes id, uint32_t revision) {
    const struct { const char *id; uint32_t revision; const void *table; } services[] = {
        {BP_LOG, 1, &log_1}, {BP_CALLS, 1, &calls_1}, {BP_STREAMS, 1, &streams_1}, {BP_HTTP, 1, &http_1},
        {BP_HTTP, 2, &http_2}, {BP_BODIES, 1, &bodies_1}, {BP_TRANSFERS, 1, &transfers_1},
        {BP_OPERATIONS, 1, &operations_1}, {BP_STORE, 1, &store_1}, {BP_STORE, 2, &store_2}, {BP_TIMERS, 1, &timers_1}};
    for (size_t index = 0; index < sizeof services / sizeof *services; index++) {
        const char *name = services[index].id;
        if (services[index].revision != revision || id.length != strlen(name)) continue;
        if (memcmp(id.data, name, id.length) == 0) return services[index].table;
    }
    return NULL;
}

bool bph_enter(bph_entry entry, const char *toolchain, bp_answer *answer) {
    const bp_offer offer = {
        .size = sizeof offer, .abi_min = BP_ABI_MIN, .abi_max = BP_ABI_MAX, .lane_revision = BP_LANE_REVISION,
        .host_version = {(const uint8_t *)bp_sdk_version, strlen(bp_sdk_version)},
        .toolchain = {(const uint8_t *)toolchain, strlen(toolchain)}, .get_interface = get_interface};
    memset(answer, 0, sizeof *answer);
    answer->size = sizeof *answer;
    if (entry(&offer, answer) != BP_OK) return false;
    const size_t size = answer->size;
    if (size < offsetof(bp_answer, problems) || size > sizeof *answer) return false;
    memset((char *)answer + size, 0, sizeof *answer - size);
    return answer->abi >= BP_ABI_MIN && answer->abi <= BP_ABI_MAX;
}

/* MARK: The answer */

/* This follows PluginDescription.swift and ComponentClass+Reading.swift, in C because a process that was taken over
 * before `main` has no Swift metadata of the program yet. The limits are those of AnswerTexts and Descriptors, beyond
 * which the host refuses without reading. */
enum { NAME = 1024, VERSION = 64, TOOLCHAIN = 4096, PROBLEMS = 65536, COUNT = 65535, PAGE = 4096 };

/* Reads a byte of every page. */
static void touch(const void *start, size_t count) {
    const volatile uint8_t *bytes = start;
    for (size_t index = 0; index < count; index += PAGE) (void)bytes[index];
    if (count > 0) (void)bytes[count - 1];
}

static void read_text(bp_bytes text, size_t limit) {
    if (text.data && text.length <= limit) touch(text.data, text.length);
}

/* Returns the size that a struct declares; the struct may not be aligned. */
static size_t size_of(const void *source) {
    uint32_t size;
    memcpy(&size, source, sizeof size);
    return size;
}

/* Copies bytes and reads all their pages, including those of fields that are not used here. */
static void copy_bytes(void *copy, const void *source, size_t count) {
    touch(source, count);
    memcpy(copy, source, count);
}

/* Copies the part of a struct that its `size` covers. */
static void copy_struct(void *copy, const void *source, size_t known) {
    const size_t size = size_of(source);
    memset(copy, 0, known);
    copy_bytes(copy, source, size < known ? size : known);
}

/* Returns the stride of an array of structs; 0 if the host does not read it. */
static size_t stride(const void *array, size_t count) {
    if (count == 0 || count > COUNT || !array) return 0;
    const size_t size = size_of(array);
    return size >= 8 && size <= 65536 && size % 8 == 0 && (uintptr_t)array % 8 == 0 ? size : 0;
}

static bool is_equal(const bp_canary *theirs, const bp_canary *own) {
    const bool are_numbers_equal = theirs->u8 == own->u8 && theirs->u16 == own->u16
        && theirs->u8_before_u32 == own->u8_before_u32 && theirs->u32 == own->u32
        && theirs->u8_before_u64 == own->u8_before_u64 && theirs->u64 == own->u64 && theirs->i32 == own->i32
        && theirs->i64 == own->i64 && memcmp(theirs->letters, own->letters, sizeof own->letters) == 0
        && theirs->length == own->length && theirs->pointer == own->pointer && theirs->function == own->function
        && theirs->bytes.length == own->bytes.length;
    return are_numbers_equal && theirs->bytes.data
        && memcmp(theirs->bytes.data, own->bytes.data, own->bytes.length) == 0;
}

/* Returns whether the host reads descriptors of a plugin with this layout; those of another would be read wrongly. */
static bool is_compatible(const bp_self_check *theirs) {
    const bp_self_check own = bp_check_self();
    if (!is_equal(&theirs->canary, &own.canary)) return false;
    if (theirs->layout_hash == own.layout_hash) return true;
    if (!theirs->fields || theirs->field_count > COUNT) return false;
    if (bp_layout_hash(theirs->fields, theirs->field_count) != theirs->layout_hash) return false;
    for (size_t index = 0; index < theirs->field_count; index++) {
        const bp_field *field = &theirs->fields[index];
        for (size_t other = 0; field->name && other < own.field_count; other++) {
            if (strcmp(field->name, own.fields[other].name) != 0) continue;
            if (field->offset != own.fields[other].offset || field->size != own.fields[other].size) return false;
        }
    }
    return true;
}

static void read_layout(bp_layout layout, void *type) {
    if (!type) return;
    const bp_bytes text = layout(type);
    if (text.data && (int64_t)text.length > 0) touch(text.data, text.length);
}

static void read_contract(bp_bytes name, bp_bytes version, const bp_method *methods, size_t count) {
    read_text(name, NAME);
    read_text(version, VERSION);
    const size_t size = stride(methods, count);
    for (size_t index = 0; size && index < count; index++) {
        bp_method method;
        copy_struct(&method, (const char *)methods + index * size, sizeof method);
        read_text(method.name, NAME);
    }
}

static void read_wire(const bp_wire *wire, bool shares_slots) {
    read_text(wire->label, NAME);
    read_contract(wire->contract, wire->contract_version, wire->methods, wire->method_count);
    if (!shares_slots || !wire->lane) return;
    bp_wire_lane lane;
    copy_bytes(&lane, wire->lane, sizeof lane);
    read_layout(lane.layout, lane.type);
}

static void read_component(const bp_component *component, bool shares_slots) {
    read_text(component->class_name, NAME);
    read_text(component->version, VERSION);
    if (component->contract.length > 0) {
        read_contract(component->contract, component->contract_version, component->methods, component->method_count);
    }
    const size_t size = stride(component->wires, component->wire_count);
    for (size_t index = 0; size && index < component->wire_count; index++) {
        bp_wire wire;
        copy_struct(&wire, (const char *)component->wires + index * size, sizeof wire);
        read_wire(&wire, shares_slots);
    }
    if (component->state) {
        bp_state state;
        copy_struct(&state, component->state, sizeof state);
        read_text(state.schema, NAME);
        if (shares_slots && state.lane) {
            bp_state_lane lane;
            copy_bytes(&lane, state.lane, sizeof lane);
            read_layout(lane.layout, lane.type);
        }
    }
    if (!shares_slots || !component->lane) return;
    bp_component_lane lane;
    copy_bytes(&lane, component->lane, sizeof lane);
    read_layout(lane.layout, lane.type);
}

void bph_read_answer(const bp_answer *answer) {
    if (!is_compatible(&answer->self_check)) return;
    read_text(answer->id, NAME);
    read_text(answer->version, VERSION);
    read_text(answer->toolchain, TOOLCHAIN);
    read_text(answer->problems, PROBLEMS);
    const size_t size = stride(answer->components, answer->component_count);
    for (size_t index = 0; size && index < answer->component_count; index++) {
        bp_component component;
        copy_struct(&component, (const char *)answer->components + index * size, sizeof component);
        read_component(&component, answer->lane_revision == BP_LANE_REVISION);
    }
}
