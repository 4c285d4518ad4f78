/*
 * backplane.h: the boundary between a Backplane host and its plugins. ABI 0.
 *
 * A plugin is a shared library that exports one function, backplane_plugin_entry_v1, and carries one record in the
 * ELF section "backplane". This header is all that a plugin in C, or in any language that can speak C, needs. In order:
 *   1. values            bp_bytes, status codes, the call frame
 *   2. components        what a plugin describes: methods, wires, lifecycle
 *   3. host services     what a component may ask of the host
 *   4. the entry         offer and answer
 *   5. the identity      what a host reads before it runs one instruction of a plugin
 *   6. the self-check    how both sides notice that they disagree about this header
 * Plugins/Clock/clock.c in the Backplane package is a whole plugin in plain C.
 *
 * The rules
 * - Every struct below "values" begins with `uint32_t size`, set by whoever fills it to the sizeof it was compiled with,
 *   and only ever grows at its end. A reader uses a field only if `size` covers it. An array of structs is stepped
 *   through by the `size` of its first element.
 * - Data crosses as a borrowed pointer and a length, valid until the function it was given to returns; what must last
 *   longer is copied by the receiver. Descriptors (answer, components, methods, wires) live as long as the process:
 *   a plugin is never unloaded. Nobody frees the other side's memory.
 * - Text is UTF-8 without a terminating zero. JSON is UTF-8.
 * - An error is a status code and text, copied at once by whoever receives it.
 * - Unless a function says otherwise it may be called on any thread, on several at once, and must not block for long:
 *   the thread belongs to the caller. No exception, longjmp or unwinding may cross the boundary.
 */
#ifndef BACKPLANE_H
#define BACKPLANE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#define BP_SENDABLE __attribute__((swift_attr("@Sendable")))
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"     /* what -pedantic says of _Nullable */
#pragma clang assume_nonnull begin
#else
#define BP_SENDABLE
#ifndef _Nullable
#define _Nullable
#endif
#endif

/* The ABI numbers this header can speak. What they mean only grows: docs/boundary-compatibility.md has what may be added, and where. */
#define BP_ABI_MIN 0u
#define BP_ABI_MAX 0u

/* The highest ABI number in both ranges, the offer's and one's own (BP_ABI_MIN, BP_ABI_MAX); BP_NO_ABI when there is none. */
#define BP_NO_ABI 0xFFFFFFFFu
static inline uint32_t bp_common_abi(uint32_t offer_min, uint32_t offer_max, uint32_t own_min, uint32_t own_max) {
    uint32_t lowest = offer_min > own_min ? offer_min : own_min;
    uint32_t highest = offer_max < own_max ? offer_max : own_max;
    return lowest <= highest ? highest : BP_NO_ABI;
}

/* ------------------------------------------------------------------------------------------------ 1. values */

/* Borrowed bytes. data may be NULL when length is 0. Never grows. */
typedef struct bp_bytes {
    const uint8_t *_Nullable data;
    size_t length;
} bp_bytes;

/* bp_bytes of a string literal: BP_TEXT("now"). */
#ifdef __cplusplus
#define BP_TEXT(literal) bp_bytes{reinterpret_cast<const uint8_t *>("" literal), sizeof(literal) - 1}
#else
#define BP_TEXT(literal) {(const uint8_t *)("" literal), sizeof(literal) - 1}   /* an initialiser */
#endif

/* How a call ended. A text payload says why in one line; an empty one is allowed. */
enum {
    BP_OK = 0,              /* payload: the result, JSON (`null` for none)                     */
    BP_FAILED = 1,          /* payload: text; becomes the error component.failed               */
    BP_INVALID_INPUT = 2,   /* payload: text; the input does not have the type that the method takes           */
    BP_UNIMPLEMENTED = 3,   /* payload: text; there is no such method, interface or lifecycle  */
    BP_CANCELLED = 4,       /* payload: text; the caller no longer wants an answer             */
    BP_DEADLINE = 5,        /* payload: text; the call's deadline passed                       */
    BP_FORBIDDEN = 6,       /* payload: text; the calling component's role may not do this     */
    BP_RETIRED = 7,         /* payload: text; the component called, or calling, has stopped    */
    BP_ERROR = 8            /* payload: JSON {"code": "…", "message": "…", "location"?: "…",
                               "failure"?: {"code": "…", "details": {"…": "…"}}, "causes"?: […]} */
};

/* The frame that travels with every call: 64 plain bytes, which may be copied and kept. Never grows.
 * A component that calls on behalf of a call it was given passes this frame on; a call that begins with the component
 * starts from a zeroed frame with its size set. */
typedef struct bp_call {
    uint32_t size;          /* sizeof(bp_call)                                                   */
    uint32_t flags;         /* low 4 bits: entries used in path; BP_CALL_PATH_FULL; others zero  */
    int64_t deadline_ns;    /* CLOCK_MONOTONIC; 0: none                                          */
    uint16_t path[8];       /* numbers of the components this call came through, the caller last */
    uint8_t trace[32];      /* W3C trace id (16), parent span id (8), trace flags (1); zero: none */
} bp_call;

#define BP_CALL_PATH_COUNT 0xFu     /* mask of bp_call.flags */
#define BP_CALL_PATH_FULL 0x10u     /* all eight were used: any component may be in the path */

/* Ends what it was handed to: exactly once, on any thread, also before the function it was given to has returned.
 * context is the caller's own and is handed back untouched. payload is borrowed. */
typedef void (*BP_SENDABLE bp_done)(void *_Nullable context, int32_t status, bp_bytes payload);

/* --------------------------------------------------------------------------------------------- 2. components */

enum {
    BP_MANAGER = 1,                     /* business logic; calls other managers through its wires */
    BP_DATA_ACCESS_CONTROLLER = 2,      /* keeps data: its folder; backplane.store                */
    BP_COMMUNICATION_CONTROLLER = 3,    /* owns network services by name; backplane.http          */
    BP_NETWORK_SERVICE = 4              /* speaks to one endpoint; backplane.http                 */
};

enum {
    BP_ASYNC = 0,           /* may answer later, on any thread                                    */
    BP_SYNC = 1             /* has answered when `call` returns; never waits                      */
};

/* One method of a contract. Its place in the array is the number it is called by. */
typedef struct bp_method {
    uint32_t size;
    uint32_t kind;          /* BP_ASYNC, BP_SYNC */
    bp_bytes name;
} bp_method;

enum { BP_WIRE_OPTIONAL = 1 };

/* One collaborator that a component asks for. `dataAccessController` and `communicationController` are reserved labels;
 * in a communication controller the others are the manifest's `propertyName`s, in a manager the names under `uses`. */
typedef struct bp_wire {
    uint32_t size;
    uint32_t flags;                         /* BP_WIRE_OPTIONAL */
    bp_bytes label;
    bp_bytes contract, contract_version;    /* served by the same contract, same major version, at least this version */
    const bp_method *_Nullable methods;     /* those the component calls */
    size_t method_count;
    const void *_Nullable lane;             /* for the Swift SDK (lease.h); NULL otherwise */
} bp_wire;

/* One wire of one component being made. */
typedef struct bp_connection {
    uint32_t size;
    uint32_t reserved;
    bp_bytes label;
    uint64_t wire;                          /* the wire's handle */
    void *_Nullable slot;                   /* for the Swift SDK (lease.h); NULL otherwise */
} bp_connection;

/* What a component is made with. */
typedef struct bp_creation {
    uint32_t size;
    uint32_t number;                        /* what the component appends to the path of the calls it makes */
    uint64_t handle;                        /* names the component to every host service; never reused */
    bp_bytes configuration;                 /* JSON object; `{}` when the manifest gives none */
    bp_bytes folder;                        /* path of a private folder that stays; data access controllers only */
    const bp_connection *_Nullable wires;   /* the declared wires that are connected */
    size_t wire_count;
    bp_bytes resources;                     /* path of the plugin's read-only folder, copied with its library; empty: none */
} bp_creation;

/* Ends a creation: exactly once. With BP_OK, instance is the component; otherwise it is NULL and payload is the error. */
typedef void (*BP_SENDABLE bp_created)(void *_Nullable context, int32_t status, void *_Nullable instance, bp_bytes payload);

/* A step of an instance's lifecycle. It may take its time, and is called on a thread that waits for nothing else; so are bp_create,
 * bp_export and bp_import. Steps of one instance never overlap, its export and import of state among them. `health` alone
 * may be asked at any time after `activate`: while calls, another step or an earlier question are under way.
 *
 * A swap suspends the old instance, exports its state, and releases it once the new one is in force for good, without `stop`: its
 * work goes on in the new one. When the swap fails, or is taken back, the old one is resumed. Calls of synchronous methods may still
 * come while it is suspended, and so must not change what is exported; other calls wait. */
typedef void (*BP_SENDABLE bp_step)(void *instance, bp_done done, void *_Nullable context);

/* Makes an instance. Takes nothing exclusive (ports, locks): an old and a new instance coexist during a swap. */
typedef void (*BP_SENDABLE bp_create)(void *_Nullable type, const bp_creation *creation, bp_created done, void *_Nullable context);

/* Calls method number `method` with a JSON input (`null` for none). `id` is unique in the process and names the call to
 * bp_cancel. A call that is under way when the instance stops is answered all the same. */
typedef void (*BP_SENDABLE bp_invoke)(void *instance, uint32_t method, bp_bytes input, const bp_call *call, uint64_t id,
                                      bp_done done, void *_Nullable context);

/* The caller of `id` no longer wants its answer: answer soon, with BP_CANCELLED if that cuts the work short. May come
 * after the answer, and is then ignored. */
typedef void (*BP_SENDABLE bp_cancel)(void *instance, uint64_t id);

/* Gives an instance up: the last function called with it, after every call has ended. */
typedef void (*BP_SENDABLE bp_release)(void *instance);

/* What is wrong with a configuration, found without making an instance. Has answered when it returns: with BP_OK and a JSON array
 * of texts, the JSON pointers of the keys that are not known (`[]` for none), or with the error that create would end with. */
typedef void (*BP_SENDABLE bp_review)(void *_Nullable type, bp_bytes configuration, bp_done done, void *_Nullable context);

/* Gives the instance's state as the schema has it in that version, from writes_min to version: the payload of BP_OK is its bytes, of
 * any kind, since the host does not look into them. Comes after `suspend`, or after an import, perhaps more than once, and changes
 * nothing. */
typedef void (*BP_SENDABLE bp_export)(void *instance, uint32_t version, bp_done done, void *_Nullable context);

/* Takes over state that another instance exported in that version, from accepts_min to accepts_max. Comes after `create` and before
 * `activate`, once; a host that checks may import again what was exported. */
typedef void (*BP_SENDABLE bp_import)(void *instance, uint32_t version, bp_bytes state, bp_done done, void *_Nullable context);

/* What of a component outlives its code in a swap. Both functions are required. */
typedef struct bp_state {
    uint32_t size;
    uint32_t version;                       /* what is exported unless another is asked for                    */
    bp_bytes schema;                        /* names what the state is: the same name, the same kind of state  */
    uint32_t accepts_min, accepts_max;      /* the versions that import reads, its own among them              */
    uint32_t writes_min;                    /* the oldest that export can write, for the way back; or version  */
    uint32_t reserved;
    bp_export _Nullable export_state;
    bp_import _Nullable import_state;
} bp_state;

enum {
    BP_EXCLUSIVE = 1,           /* takes ports, files or timers in activate: in a swap calls wait until the new one has them   */
    BP_RESTART_ON_SWAP = 2      /* is made anew when a component that it calls by a wire is swapped                            */
};

/* A component class that the plugin brings. create is required, and call where there are methods; the other functions may
 * be NULL. */
typedef struct bp_component {
    uint32_t size;
    uint32_t role;                          /* BP_MANAGER, … */
    bp_bytes class_name, version;           /* version: three numbers with dots, "1.2.0" */
    bp_bytes contract, contract_version;    /* what it provides; empty: nothing */
    const bp_method *_Nullable methods;
    size_t method_count;
    const bp_wire *_Nullable wires;
    size_t wire_count;
    void *_Nullable type;                   /* the plugin's own, handed to create */
    bp_create _Nullable create;
    bp_step _Nullable activate;             /* takes what is exclusive                                         */
    bp_step _Nullable suspend;              /* gives it up, and leaves the instance's state still              */
    bp_step _Nullable resume;               /* after a suspend; NULL: as activate                              */
    bp_step _Nullable stop;                 /* the last step, after a successful activate; NULL: as suspend    */
    bp_release _Nullable release;
    bp_invoke _Nullable call;
    bp_cancel _Nullable cancel;             /* NULL: calls cannot be cancelled                                 */
    const void *_Nullable lane;             /* for the Swift SDK (lease.h); NULL otherwise                     */
    bp_review _Nullable review;             /* NULL: a configuration is first looked at by create              */
    uint32_t traits;                        /* BP_EXCLUSIVE, BP_RESTART_ON_SWAP; others are ignored            */
    uint32_t reserved;
    const bp_state *_Nullable state;        /* NULL: nothing of it outlives a swap                             */
    bp_step _Nullable health;               /* fails when the component is not well; NULL: it is never asked   */
} bp_component;

/* ------------------------------------------------------------------------------------------ 3. host services */

/* Each service is a table of functions, fetched from the offer by id and revision. Every function takes the calling
 * component's handle first; what its role may not use answers BP_FORBIDDEN, a component that has stopped BP_RETIRED.
 * The tables live as long as the process, so they may be called at any time, from any thread. None blocks. */

#define BP_LOG "backplane.log"      /* revision 1, every role */

enum { BP_LOG_TRACE = 0, BP_LOG_DEBUG = 1, BP_LOG_INFO = 2, BP_LOG_NOTICE = 3, BP_LOG_WARNING = 4, BP_LOG_ERROR = 5, BP_LOG_CRITICAL = 6 };

/* A named text. Never grows. */
typedef struct bp_pair {
    bp_bytes name, value;
} bp_pair;

typedef struct bp_log_1 {
    uint32_t size;
    uint32_t reserved;
    /* Is `level` written at all? A cheap question to ask before building a message. 0: no. */
    int32_t (*is_enabled)(uint64_t component, uint32_t level);
    void (*write)(uint64_t component, uint32_t level, bp_bytes message, const bp_pair *_Nullable metadata, size_t metadata_count);
} bp_log_1;

#define BP_CALLS "backplane.calls"  /* revision 1, every role that has wires */

/* Ends a look-up: exactly once. With BP_OK, found is set, and borrowed; its wire is the component's until that ends. */
typedef void (*BP_SENDABLE bp_found)(void *_Nullable context, int32_t status, const bp_connection *_Nullable found, bp_bytes payload);

typedef struct bp_calls_1 {
    uint32_t size;
    uint32_t reserved;
    /* Calls a collaborator: `wire` is the handle the connection came with, `method` the place among the methods that the wire
     * declares. The host appends the component to the path of the frame. Returns an id to cancel the call by, 0 when it has
     * ended already; a synchronous method has always ended. */
    uint64_t (*call)(uint64_t component, uint64_t wire, uint32_t method, bp_bytes input, const bp_call *call, bp_done done, void *_Nullable context);
    void (*cancel)(uint64_t component, uint64_t id);
    /* Connects a manager that the component's wires do not name, started if it was not. Of `needed` the contract, its version and
     * the methods are read; the wire serves them as one that was declared does. `call`: what this is done for, or NULL. Managers only. */
    void (*find)(uint64_t component, bp_bytes manager, const bp_wire *needed, const bp_call *_Nullable call, bp_found done, void *_Nullable context);
    /* The managers that serve a contract, none started: the payload of BP_OK is JSON, [{"name", "className", "version", "plugin"}],
     * in the order of the plugins and then of the names. Managers only. */
    void (*providers)(uint64_t component, const bp_wire *needed, bp_done done, void *_Nullable context);
} bp_calls_1;

#define BP_HTTP "backplane.http"    /* revision 1, communication controllers and network services */

typedef struct bp_http_request {
    uint32_t size;
    uint32_t reserved;
    bp_bytes method, url;           /* url: absolute, or `file:` relative to the manifest's folder */
    const bp_pair *_Nullable headers;
    size_t header_count;
    bp_bytes body;
} bp_http_request;

typedef struct bp_http_response {
    uint32_t size;
    uint32_t status;                /* 100 to 599 */
    const bp_pair *_Nullable headers;
    size_t header_count;
    bp_bytes body;
} bp_http_response;

/* Ends an exchange: exactly once. With BP_OK, response is set (whatever its HTTP status) and borrowed. */
typedef void (*BP_SENDABLE bp_http_done)(void *_Nullable context, int32_t status, const bp_http_response *_Nullable response, bp_bytes payload);

typedef struct bp_http_1 {
    uint32_t size;
    uint32_t reserved;
    /* Starts an exchange with whole bodies; returns an id to cancel it by, 0 when it has ended already. */
    uint64_t (*send)(uint64_t component, const bp_http_request *request, const bp_call *call, bp_http_done done, void *_Nullable context);
    void (*cancel)(uint64_t component, uint64_t exchange);
} bp_http_1;

#define BP_STORE "backplane.store"  /* revision 1, data access controllers */

/* A record of a collection: JSON under an id. Collections are the component's own: no other component sees them. */
typedef struct bp_record {
    uint32_t size;
    uint32_t reserved;
    bp_bytes collection, id;
    bp_bytes value;                 /* JSON */
} bp_record;

enum { BP_STORE_SAVE = 1, BP_STORE_DELETE = 2, BP_STORE_DELETE_ALL = 3 };

/* One change. BP_STORE_DELETE reads no value, BP_STORE_DELETE_ALL only the collection. */
typedef struct bp_store_change {
    uint32_t size;
    uint32_t kind;
    bp_bytes collection, id, value;
} bp_store_change;

/* Which records: those with the ids given, or all in the order of their ids. */
typedef struct bp_store_query {
    uint32_t size;
    uint32_t reserved;
    bp_bytes collection;
    const bp_bytes *_Nullable ids;  /* NULL: all */
    size_t id_count;
    uint64_t offset, limit;         /* of the records that fit; limit 0 counts them only */
} bp_store_query;

/* Ends a query: exactly once. With BP_OK, records are borrowed and total counts all that fit. */
typedef void (*BP_SENDABLE bp_store_done)(void *_Nullable context, int32_t status, const bp_record *_Nullable records, size_t record_count,
                                          uint64_t total, bp_bytes payload);

typedef struct bp_store_1 {
    uint32_t size;
    uint32_t reserved;
    /* Makes all changes in order, or none. What was acknowledged is there after the process is killed, where the host's store
     * is a file. The payload of BP_OK is empty. */
    void (*write)(uint64_t component, const bp_store_change *_Nullable changes, size_t change_count, bp_done done, void *_Nullable context);
    void (*query)(uint64_t component, const bp_store_query *query, bp_store_done done, void *_Nullable context);
} bp_store_1;

/* ------------------------------------------------------------------------------------------------ 4. the entry */

/* The function table of a host service, e.g. (BP_HTTP, 1); NULL when the host does not have it. Any thread, any time. */
typedef const void *_Nullable (*BP_SENDABLE bp_get_interface)(bp_bytes id, uint32_t revision);

/* What the host offers. */
typedef struct bp_offer {
    uint32_t size;
    uint32_t abi_min, abi_max;      /* the ABI numbers the host speaks */
    uint32_t lane_revision;         /* for the Swift SDK */
    bp_bytes host_version;          /* "0.1.0" */
    bp_bytes toolchain;             /* the compiler the host was built by */
    bp_get_interface get_interface;
} bp_offer;

/* Where the compiler put a field. Never grows. */
typedef struct bp_field {
    const char *_Nullable name;     /* "bp_call.path" */
    uint32_t offset, size;
} bp_field;

/* One value of every kind that this header uses, see 6. Never grows. */
typedef struct bp_canary {
    uint8_t u8;                             /* 0x81                                            */
    uint16_t u16;                           /* 0x8203                                          */
    uint8_t u8_before_u32;                  /* 0x84                                            */
    uint32_t u32;                           /* 0x85060708                                      */
    uint8_t u8_before_u64;                  /* 0x89                                            */
    uint64_t u64;                           /* 0x8A0B0C0D0E0F1011                              */
    int32_t i32;                            /* -305419896, which is -0x12345678                */
    int64_t i64;                            /* -81985529216486896, which is -0x123456789ABCDF0 */
    char letters[3];                        /* "bp", zero-terminated                           */
    size_t length;                          /* all bits set, less 2                            */
    const void *_Nullable pointer;          /* the address 0x10203040                          */
    bp_get_interface _Nullable function;    /* NULL                                            */
    bp_bytes bytes;                         /* the text "backplane"                            */
} bp_canary;

/* What a plugin says so that both sides notice when they disagree about this header: bp_check_self() fills it in. Never grows. */
typedef struct bp_self_check {
    bp_canary canary;
    uint64_t layout_hash;                       /* of the fields */
    const bp_field *_Nullable fields;           /* BP_LAYOUT */
    size_t field_count;
} bp_self_check;

/* What the plugin answers. The host fills in `size` and zeroes the rest; the plugin writes no field that this size does
 * not cover, and lowers `size` to what it knows itself if that is less. */
typedef struct bp_answer {
    uint32_t size;
    uint32_t abi;                   /* one number from both ranges */
    uint32_t lane_revision;         /* the Swift SDK's; 0: a plugin that takes no part in the native lane */
    uint32_t reserved;
    bp_bytes id, version;           /* "org.example.clock", "1.0.0" */
    bp_bytes toolchain;             /* the compiler the plugin was built by, or empty */
    const bp_component *_Nullable components;
    size_t component_count;
    bp_bytes problems;              /* what is wrong with the plugin itself, one problem a line; empty: nothing */
    bp_self_check self_check;       /* bp_check_self(), see 6 */
} bp_answer;

/* Shown to whoever loads the library, also where it is compiled with -fvisibility=hidden. */
#ifndef BP_EXPORT
#define BP_EXPORT __attribute__((visibility("default")))
#endif

/* The entry of a plugin. It describes, and does nothing else: no I/O, no threads. Called once for each loaded copy, on one
 * thread, with an answer whose fields are zero. Returns BP_OK; or BP_UNIMPLEMENTED, touching nothing, when no ABI number of
 * the offer suits it; any other value refuses to load. `_v1` names the shape of this one function, which never changes. */
BP_EXPORT int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer);

/* --------------------------------------------------------------------------------------------- 5. the identity */

/* One record in the ELF section "backplane", little-endian, 8-byte aligned. A library without it is not loaded.
 * A plugin that links the Backplane SDK has it; any other writes
 *
 *     BP_IDENTITY("org.example.clock", "1.0.0")
 *
 * once, in one file, at file scope. Where there are several, each says a part. Other languages lay out these bytes:
 *     0   8 bytes   "BACKPLNE"
 *     8   uint32    320, the size of the record; a longer one begins with these fields, a shorter one, of 24 at least, says
 *                   nothing in those that it does not reach
 *    12   uint32    lowest ABI number the plugin speaks
 *    16   uint32    highest ABI number
 *    20   uint32    Swift compiler, major * 1000 + minor, which a library with Swift in it must say; 0: none, or said elsewhere
 *    24   32 bytes  version of the SDK, zero-padded text; empty without it
 *    56  160 bytes  toolchain, zero-padded text
 *   216   72 bytes  the plugin's id, zero-padded text; empty: only its answer says
 *   288   32 bytes  the plugin's version, likewise
 */
typedef struct bp_identity {
    uint8_t magic[8];
    uint32_t size;
    uint32_t abi_min, abi_max;
    uint32_t swift;
    char sdk[32];
    char toolchain[160];
    char id[72];
    char version[32];
} bp_identity;

#define BP_SECTION "backplane"
#define BP_IDENTITY_MAGIC {'B', 'A', 'C', 'K', 'P', 'L', 'N', 'E'}

#if defined(__has_attribute)
#if __has_attribute(retain)
#define BP_KEEP __attribute__((used, retain, aligned(8), section(BP_SECTION)))
#endif
#endif
#ifndef BP_KEEP
#define BP_KEEP __attribute__((used, aligned(8), section(BP_SECTION)))
#endif

#define BP_IDENTITY_RECORD(sdk, id, version) \
    static const bp_identity bp_identity_record BP_KEEP = { \
        BP_IDENTITY_MAGIC, sizeof(bp_identity), BP_ABI_MIN, BP_ABI_MAX, 0, sdk, __VERSION__, id, version};
#define BP_IDENTITY(id, version) BP_IDENTITY_RECORD("", id, version)

/* ------------------------------------------------------------------------------------------- 6. the self-check */

/* `.self_check = bp_check_self()` in the answer is all that a plugin with this header does. The host compares
 * - the canary, value by value: widths, alignment and byte order;
 * - the hash, which covers the name, offset and size of every field of every struct. Equal hashes: the same header, and the
 *   same layout. Otherwise one side may be newer, and every field that both know is compared: a mismatch is refused, naming
 *   the field and both offsets.
 * Other languages fill in the canary's values, as they stand there, and the table in any order; the hash is FNV-1a (64 bits)
 * over, for each field, its name with the terminating zero, its offset and its size as four bytes each, little-endian. */
#define BP_FIELD(type, field) {#type "." #field, (uint32_t)offsetof(type, field), (uint32_t)sizeof(((type *)0)->field)}

#define BP_LAYOUT { \
    BP_FIELD(bp_bytes, data), BP_FIELD(bp_bytes, length), \
    BP_FIELD(bp_call, size), BP_FIELD(bp_call, flags), BP_FIELD(bp_call, deadline_ns), BP_FIELD(bp_call, path), BP_FIELD(bp_call, trace), \
    BP_FIELD(bp_method, size), BP_FIELD(bp_method, kind), BP_FIELD(bp_method, name), \
    BP_FIELD(bp_wire, size), BP_FIELD(bp_wire, flags), BP_FIELD(bp_wire, label), BP_FIELD(bp_wire, contract), \
    BP_FIELD(bp_wire, contract_version), BP_FIELD(bp_wire, methods), BP_FIELD(bp_wire, method_count), BP_FIELD(bp_wire, lane), \
    BP_FIELD(bp_connection, size), BP_FIELD(bp_connection, reserved), BP_FIELD(bp_connection, label), BP_FIELD(bp_connection, wire), \
    BP_FIELD(bp_connection, slot), \
    BP_FIELD(bp_creation, size), BP_FIELD(bp_creation, number), BP_FIELD(bp_creation, handle), BP_FIELD(bp_creation, configuration), \
    BP_FIELD(bp_creation, folder), BP_FIELD(bp_creation, wires), BP_FIELD(bp_creation, wire_count), BP_FIELD(bp_creation, resources), \
    BP_FIELD(bp_state, size), BP_FIELD(bp_state, version), BP_FIELD(bp_state, schema), BP_FIELD(bp_state, accepts_min), \
    BP_FIELD(bp_state, accepts_max), BP_FIELD(bp_state, writes_min), BP_FIELD(bp_state, reserved), BP_FIELD(bp_state, export_state), \
    BP_FIELD(bp_state, import_state), \
    BP_FIELD(bp_component, size), BP_FIELD(bp_component, role), BP_FIELD(bp_component, class_name), BP_FIELD(bp_component, version), \
    BP_FIELD(bp_component, contract), BP_FIELD(bp_component, contract_version), BP_FIELD(bp_component, methods), \
    BP_FIELD(bp_component, method_count), BP_FIELD(bp_component, wires), BP_FIELD(bp_component, wire_count), BP_FIELD(bp_component, type), \
    BP_FIELD(bp_component, create), BP_FIELD(bp_component, activate), BP_FIELD(bp_component, suspend), BP_FIELD(bp_component, resume), \
    BP_FIELD(bp_component, stop), BP_FIELD(bp_component, release), BP_FIELD(bp_component, call), BP_FIELD(bp_component, cancel), \
    BP_FIELD(bp_component, lane), BP_FIELD(bp_component, review), BP_FIELD(bp_component, traits), \
    BP_FIELD(bp_component, reserved), BP_FIELD(bp_component, state), BP_FIELD(bp_component, health), \
    BP_FIELD(bp_pair, name), BP_FIELD(bp_pair, value), \
    BP_FIELD(bp_log_1, size), BP_FIELD(bp_log_1, reserved), BP_FIELD(bp_log_1, is_enabled), BP_FIELD(bp_log_1, write), \
    BP_FIELD(bp_http_request, size), BP_FIELD(bp_http_request, reserved), BP_FIELD(bp_http_request, method), BP_FIELD(bp_http_request, url), \
    BP_FIELD(bp_http_request, headers), BP_FIELD(bp_http_request, header_count), BP_FIELD(bp_http_request, body), \
    BP_FIELD(bp_http_response, size), BP_FIELD(bp_http_response, status), BP_FIELD(bp_http_response, headers), \
    BP_FIELD(bp_http_response, header_count), BP_FIELD(bp_http_response, body), \
    BP_FIELD(bp_http_1, size), BP_FIELD(bp_http_1, reserved), BP_FIELD(bp_http_1, send), BP_FIELD(bp_http_1, cancel), \
    BP_FIELD(bp_calls_1, size), BP_FIELD(bp_calls_1, reserved), BP_FIELD(bp_calls_1, call), BP_FIELD(bp_calls_1, cancel), \
    BP_FIELD(bp_calls_1, find), BP_FIELD(bp_calls_1, providers), \
    BP_FIELD(bp_record, size), BP_FIELD(bp_record, reserved), BP_FIELD(bp_record, collection), BP_FIELD(bp_record, id), BP_FIELD(bp_record, value), \
    BP_FIELD(bp_store_change, size), BP_FIELD(bp_store_change, kind), BP_FIELD(bp_store_change, collection), \
    BP_FIELD(bp_store_change, id), BP_FIELD(bp_store_change, value), \
    BP_FIELD(bp_store_query, size), BP_FIELD(bp_store_query, reserved), BP_FIELD(bp_store_query, collection), BP_FIELD(bp_store_query, ids), \
    BP_FIELD(bp_store_query, id_count), BP_FIELD(bp_store_query, offset), BP_FIELD(bp_store_query, limit), \
    BP_FIELD(bp_store_1, size), BP_FIELD(bp_store_1, reserved), BP_FIELD(bp_store_1, write), BP_FIELD(bp_store_1, query), \
    BP_FIELD(bp_offer, size), BP_FIELD(bp_offer, abi_min), BP_FIELD(bp_offer, abi_max), BP_FIELD(bp_offer, lane_revision), \
    BP_FIELD(bp_offer, host_version), BP_FIELD(bp_offer, toolchain), BP_FIELD(bp_offer, get_interface), \
    BP_FIELD(bp_answer, size), BP_FIELD(bp_answer, abi), BP_FIELD(bp_answer, lane_revision), BP_FIELD(bp_answer, reserved), BP_FIELD(bp_answer, id), \
    BP_FIELD(bp_answer, version), BP_FIELD(bp_answer, toolchain), BP_FIELD(bp_answer, components), BP_FIELD(bp_answer, component_count), \
    BP_FIELD(bp_answer, problems), BP_FIELD(bp_answer, self_check), \
    BP_FIELD(bp_field, name), BP_FIELD(bp_field, offset), BP_FIELD(bp_field, size), \
    BP_FIELD(bp_canary, u8), BP_FIELD(bp_canary, u16), BP_FIELD(bp_canary, u8_before_u32), BP_FIELD(bp_canary, u32), \
    BP_FIELD(bp_canary, u8_before_u64), BP_FIELD(bp_canary, u64), BP_FIELD(bp_canary, i32), BP_FIELD(bp_canary, i64), \
    BP_FIELD(bp_canary, letters), BP_FIELD(bp_canary, length), BP_FIELD(bp_canary, pointer), BP_FIELD(bp_canary, function), \
    BP_FIELD(bp_canary, bytes), \
    BP_FIELD(bp_self_check, canary), BP_FIELD(bp_self_check, layout_hash), BP_FIELD(bp_self_check, fields), \
    BP_FIELD(bp_self_check, field_count), \
    BP_FIELD(bp_identity, magic), BP_FIELD(bp_identity, size), BP_FIELD(bp_identity, abi_min), BP_FIELD(bp_identity, abi_max), \
    BP_FIELD(bp_identity, swift), BP_FIELD(bp_identity, sdk), BP_FIELD(bp_identity, toolchain), BP_FIELD(bp_identity, id), \
    BP_FIELD(bp_identity, version) \
}

static inline uint64_t bp_layout_hash(const bp_field *_Nullable fields, size_t count) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; fields && i < count; i++) {
        const char *name = fields[i].name ? fields[i].name : "";
        const uint64_t numbers = (uint64_t)fields[i].size << 32 | fields[i].offset;
        do hash = (hash ^ (uint8_t)*name) * 0x100000001B3u; while (*name++);
        for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ (uint8_t)(numbers >> shift)) * 0x100000001B3u;
    }
    return hash;
}

/* The self-check of a plugin that is compiled with this header. */
static inline bp_self_check bp_check_self(void) {
    static const bp_field fields[] = BP_LAYOUT;
    static const char text[] = "backplane";
    const size_t count = sizeof fields / sizeof *fields;
    const bp_self_check check = {
        {0x81, 0x8203, 0x84, 0x85060708, 0x89, 0x8A0B0C0D0E0F1011u, -0x12345678, -0x123456789ABCDF0, "bp", (size_t)-3,
         (const void *)(uintptr_t)0x10203040, NULL, {(const uint8_t *)text, sizeof text - 1}},
        bp_layout_hash(fields, count), fields, count};
    return check;
}

#ifdef __clang__
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif
