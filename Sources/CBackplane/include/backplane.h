/*
 * backplane.h: the boundary between a Backplane host and its plugins. ABI 0.
 *
 * A plugin is a shared library that exports one function, backplane_plugin_entry_v1, and carries one record in the
 * ELF section "backplane". This header is all that a plugin in C, or in any language that can speak C, needs. In order:
 *   1. values            bp_bytes, status codes, the call frame
 *   2. components        the classes that a plugin describes: methods, wires, lifecycle
 *   3. host services     the functions of the host that a component can call
 *   4. the entry         offer and answer
 *   5. the identity      the record that a host reads before it runs any code of a plugin
 *   6. the self-check    the comparison of both sides' versions of this header
 * Plugins/Clock/clock.c in the Backplane package is a complete plugin in plain C.
 *
 * The rules
 * - Every struct below "values" begins with `uint32_t size`, which the side that fills it sets to the sizeof it was
 *   compiled with. Structs grow only at their end, and a reader uses a field only if `size` covers it. The stride of an
 *   array of structs is the `size` of its first element.
 * - Data crosses as a borrowed pointer and a length, valid until the function that receives them returns; the receiver
 *   copies data that it needs for longer. Descriptors (answer, components, methods, wires) live as long as the process,
 *   since a plugin is never unloaded. Neither side frees the other's memory.
 * - Text is UTF-8 without a terminating zero. JSON is UTF-8 and crosses unchecked: an input, like the answer of a
 *   collaborator, arrives as it was sent, valid or not.
 * - An error is a status code and a text, which the receiver copies immediately.
 * - Unless stated otherwise, a function may be called on any thread and on several at the same time, and must not block
 *   for long, because the thread belongs to the caller. No exception, longjmp or unwinding may cross the boundary.
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
#pragma clang diagnostic ignored "-Wnullability-extension"     /* -pedantic warns of _Nullable */
#pragma clang assume_nonnull begin
#else
#define BP_SENDABLE
#ifndef _Nullable
#define _Nullable
#endif
#endif

/* The range of ABI numbers that this header supports. docs/boundary-compatibility.md states what may be added under one
 * number, and where. */
#define BP_ABI_MIN 0u
#define BP_ABI_MAX 0u

/* Returns the highest ABI number in both ranges, the offer's and the plugin's (BP_ABI_MIN, BP_ABI_MAX), or BP_NO_ABI if
 * there is none. */
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

/* The outcome of a call. A text payload contains the reason in one line; it may be empty. */
enum {
    BP_OK = 0,              /* payload: the result, JSON (`null` for none)                     */
    BP_FAILED = 1,          /* payload: text; becomes the error component.failed               */
    BP_INVALID_INPUT = 2,   /* payload: text; the method does not accept the input             */
    BP_UNIMPLEMENTED = 3,   /* payload: text; there is no such method, interface or lifecycle  */
    BP_CANCELLED = 4,       /* payload: text; the caller no longer wants an answer             */
    BP_DEADLINE = 5,        /* payload: text; the call's deadline passed                       */
    BP_FORBIDDEN = 6,       /* payload: text; the calling component's role may not do this     */
    BP_RETIRED = 7,         /* payload: text; the called or the calling component has stopped  */
    BP_ERROR = 8,           /* payload: JSON {"code": "…", "message": "…", "location"?: "…",
                               "failure"?: {"code": "…", "details": {"…": "…"}, "json"?: "…"},
                               "causes"?: […], "calls"?: ["…"]}; calls: those that the error has ended, outermost
                               first; json: the error itself, for callers in Swift that know its type */
    BP_END = 9              /* no payload; a stream has no further elements: answers bp_next only */
};

/* The frame that accompanies every call: 64 plain bytes, which may be copied and stored. Never grows.
 * A component that makes a call while it serves another call passes on the frame of the call that it serves. Any other
 * call begins with a frame that is zero except for its size. */
typedef struct bp_call {
    uint32_t size;          /* sizeof(bp_call)                                                   */
    uint32_t flags;         /* low 4 bits: entries used in path; BP_CALL_PATH_FULL; others zero  */
    int64_t deadline_ns;    /* CLOCK_MONOTONIC; 0: none. The host enforces it, see bp_cancel     */
    uint16_t path[8];       /* numbers of the components that it passed through, the caller last */
    uint8_t trace[32];      /* W3C trace id (16), parent span id (8), trace flags (1), zeros; all zero: no trace */
} bp_call;

#define BP_CALL_PATH_COUNT 0xFu     /* mask of bp_call.flags */
#define BP_CALL_PATH_FULL 0x10u     /* all eight are used: any component may be in the path */

/* The completion of an operation, called exactly once, on any thread, possibly before the function that started the
 * operation has returned. context is the caller's and is passed back unchanged. payload is borrowed.
 * The waiting caller continues inside done: before done returns, the caller may call the component again (`call`,
 * `cancel`, finally `release`). So hold no lock during done, nor while you call a host service, which may call done
 * before it returns. */
typedef void (*BP_SENDABLE bp_done)(void *_Nullable context, int32_t status, bp_bytes payload);

/* --------------------------------------------------------------------------------------------- 2. components */

enum {
    BP_MANAGER = 1,                     /* business logic; calls other managers through its wires */
    BP_DATA_ACCESS_CONTROLLER = 2,      /* stores data: its folder; backplane.store               */
    BP_COMMUNICATION_CONTROLLER = 3,    /* owns network services by name; backplane.http          */
    BP_NETWORK_SERVICE = 4              /* communicates with one endpoint; backplane.http         */
};

/* The kind of a method. If the host does not know the kind, calls of the method fail with BP_UNIMPLEMENTED; the other
 * methods of the component are not affected. */
enum {
    BP_ASYNC = 0,           /* may answer later, on any thread                                    */
    BP_SYNC = 1,            /* has answered when `call` returns; never waits                      */
    BP_STREAM = 2           /* returns a sequence: served by `open`, `next` and `close`           */
};

/* One method of a contract. Its index in the array is the number by which it is called. */
typedef struct bp_method {
    uint32_t size;
    uint32_t kind;          /* BP_ASYNC, BP_SYNC, BP_STREAM */
    bp_bytes name;
} bp_method;

enum { BP_WIRE_OPTIONAL = 1 };

/* One collaborator that a component requires. `dataAccessController` and `communicationController` are reserved labels;
 * other labels are the manifest's `propertyName`s in a communication controller, and the names under `uses` in a
 * manager. */
typedef struct bp_wire {
    uint32_t size;
    uint32_t flags;                         /* BP_WIRE_OPTIONAL */
    bp_bytes label;
    bp_bytes contract, contract_version;    /* served by the same contract, same major version, at least this version */
    const bp_method *_Nullable methods;     /* the methods that the component calls */
    size_t method_count;
    const void *_Nullable lane;             /* for the Swift SDK (lease.h); NULL otherwise */
} bp_wire;

/* One connected wire of a component that is being created. */
typedef struct bp_connection {
    uint32_t size;
    uint32_t reserved;
    bp_bytes label;
    uint64_t wire;                          /* the wire's handle */
    void *_Nullable slot;                   /* for the Swift SDK (lease.h); NULL otherwise */
} bp_connection;

/* The parameters of a component's creation. */
typedef struct bp_creation {
    uint32_t size;
    uint32_t number;                        /* the number that the component appends to the path of its calls */
    uint64_t handle;                        /* identifies the component to every host service; never reused */
    bp_bytes configuration;                 /* JSON object; `{}` if the manifest has none */
    bp_bytes folder;                        /* path of a private folder that is kept; empty for managers. The folder
                                               of a data access controller exists; any other is created, with mode
                                               0700, by the first exchange with `download` or by the component */
    const bp_connection *_Nullable wires;   /* the declared wires that are connected */
    size_t wire_count;
    bp_bytes resources;                     /* path of the plugin's read-only folder, copied with its library; empty: none */
} bp_creation;

/* The completion of a creation, called exactly once. With BP_OK, instance is the component and payload is ignored;
 * otherwise instance is NULL and payload is the error. */
typedef void (*BP_SENDABLE bp_created)(void *_Nullable context, int32_t status, void *_Nullable instance, bp_bytes payload);

/* A step of an instance's lifecycle. Like bp_create, bp_export and bp_import it may block, because it is called
 * on a separate thread. The steps of one instance, including the export and import of its state, never overlap. Only
 * `health` may be called at any time after `activate`: during calls, another step or an earlier check.
 *
 * A swap suspends the old instance, exports its state, and releases it without `stop` once the new instance is
 * committed, because its work continues in the new instance. If the swap fails or is rolled back, the old instance is
 * resumed. While an instance is suspended, synchronous methods can still be called, and must not change the exported
 * state; other calls wait.
 *
 * The payload of BP_OK is ignored, here and in bp_import. */
typedef void (*BP_SENDABLE bp_step)(void *instance, bp_done done, void *_Nullable context);

/* Creates an instance. It must not acquire exclusive resources (ports, locks), because an old and a new instance
 * coexist during a swap. */
typedef void (*BP_SENDABLE bp_create)(void *_Nullable type, const bp_creation *creation, bp_created done, void *_Nullable context);

/* Calls method number `method` with a JSON input (`null` for none). Only the method checks the input: answer an input
 * that is not JSON, or not of the method's type, with BP_INVALID_INPUT and never with a result. `id` is unique in the
 * process and identifies the call to bp_cancel. A call that is in flight when the instance stops must still be
 * answered. */
typedef void (*BP_SENDABLE bp_invoke)(void *instance, uint32_t method, bp_bytes input, const bp_call *call, uint64_t id,
                                      bp_done done, void *_Nullable context);

/* Cancels call `id`, whose caller no longer needs an answer. The call must still be answered, and soon: with
 * BP_CANCELLED if its work was cut short. The host calls this function
 * - when the caller gives up: after `call` has returned, possibly after the answer;
 * - when the deadline passes: possibly before or during `call`, and then again after `call` has returned. The host has
 *   then answered the caller with BP_DEADLINE, and ignores a later answer.
 * Ignore an unknown id. Calls that the component has made for the cancelled call continue until their own deadline:
 * pass the cancellation on to the `cancel` of bp_calls_1 and bp_http_1. */
typedef void (*BP_SENDABLE bp_cancel)(void *instance, uint64_t id);

/* A stream is a method of the kind BP_STREAM. Its consumer requests elements, and its provider sends no more than were
 * requested: `open`, then one `next` after another, and at the end `close`. For one stream, these three are called in
 * this order and never at the same time, on any thread. Several streams may be served concurrently.
 *
 * Opens a stream by method number `method`, with a JSON input (`null` for none) that only the method checks. `id` is
 * unique in the process and names the stream in `next` and `close`. A mistake, such as an input that the method does
 * not accept, is the answer to the first `next`. The frame has no deadline, because the caller's deadline bounds only
 * the opening of a stream. A swap or a stop of the component does not wait for its streams, and closes them. */
typedef void (*BP_SENDABLE bp_open)(void *instance, uint32_t method, bp_bytes input, const bp_call *call, uint64_t id);

/* Asks stream `id` for elements. The answer may come at any later time, and comes as soon as there is one element:
 * - BP_OK: the payload is a JSON array of 1 to `max` elements;
 * - BP_END: there are no more elements;
 * - any other status, with its payload: the stream has failed, and there are no more elements.
 * The next call comes after the answer, so a fast provider cannot run ahead of its consumer: it may prepare the
 * elements of one answer in advance. After BP_END, an error or `close` there is no further call. */
typedef void (*BP_SENDABLE bp_next)(void *instance, uint64_t id, uint32_t max, bp_done done, void *_Nullable context);

/* Closes stream `id`, after the stream's end or earlier if its elements are no longer needed. It is called exactly once
 * for each stream that was opened, and is the last function called with the stream's id. A `next` that has not been
 * answered must still be answered, with any status; the answer is ignored. Call `done` with BP_OK and without a payload
 * once the stream no longer uses the instance; until then the instance is not released. */
typedef void (*BP_SENDABLE bp_close)(void *instance, uint64_t id, bp_done done, void *_Nullable context);

/* Releases an instance. It is the last function called with it, after all its calls and streams have ended. */
typedef void (*BP_SENDABLE bp_release)(void *instance);

/* Reviews a configuration without creating an instance, and answers before it returns: with BP_OK and the JSON pointers
 * of unknown keys, a JSON array of texts (`[]` for none), or with the error with which create would fail. */
typedef void (*BP_SENDABLE bp_review)(void *_Nullable type, bp_bytes configuration, bp_done done, void *_Nullable context);

/* Exports the instance's state in a version of its schema, from writes_min to version. The payload of BP_OK is the
 * state in any format, since the host does not interpret it. Called after `suspend` or an import, possibly more than
 * once; it must not change anything. */
typedef void (*BP_SENDABLE bp_export)(void *instance, uint32_t version, bp_done done, void *_Nullable context);

/* Imports the state that another instance exported in a version from accepts_min to accepts_max. Called once, after
 * `create` and before `activate`; a host that verifies imports may call it again with a state that was exported. */
typedef void (*BP_SENDABLE bp_import)(void *instance, uint32_t version, bp_bytes state, bp_done done, void *_Nullable context);

/* The state of a component that a swap carries over. Both functions are required. */
typedef struct bp_state {
    uint32_t size;
    uint32_t version;                       /* the version of exports, unless another is requested             */
    bp_bytes schema;                        /* the name of the state, equal in all versions of the schema      */
    uint32_t accepts_min, accepts_max;      /* the versions that import accepts, including `version`           */
    uint32_t writes_min;                    /* the oldest version that export writes, for rollbacks            */
    uint32_t reserved;
    bp_export _Nullable export_state;
    bp_import _Nullable import_state;
    const void *_Nullable lane;             /* for the Swift SDK (lease.h); NULL otherwise                     */
} bp_state;

/* Passes another configuration, a JSON object as in bp_creation, to an active instance. This is a step: it overlaps no
 * other step, but calls and the bodies of timers may run concurrently. After any status other than BP_OK, the instance
 * must continue with the configuration that it had; the manifest is then not applied. If another component refuses its
 * configuration in the same change, an instance that has accepted receives its old configuration again. The payload of
 * BP_OK is ignored. */
typedef void (*BP_SENDABLE bp_reconfigure)(void *instance, bp_bytes configuration, bp_done done, void *_Nullable context);

enum {
    BP_EXCLUSIVE = 1,           /* acquires ports or files in activate; calls wait for that in a swap */
    BP_RESTART_ON_SWAP = 2      /* is recreated if a component that it calls through a wire is swapped */
};

/* A component class of the plugin. create is required. call is required if there are methods that are not streams;
 * open, next and close are required if there are streams. The other functions may be NULL. */
typedef struct bp_component {
    uint32_t size;
    uint32_t role;                          /* BP_MANAGER, … */
    bp_bytes class_name, version;           /* version: three numbers with dots, "1.2.0" */
    bp_bytes contract, contract_version;    /* the contract that it provides; empty: none */
    const bp_method *_Nullable methods;
    size_t method_count;
    const bp_wire *_Nullable wires;
    size_t wire_count;
    void *_Nullable type;                   /* the plugin's, passed to create and review */
    bp_create _Nullable create;
    bp_step _Nullable activate;             /* acquires exclusive resources                                    */
    bp_step _Nullable suspend;              /* releases them; the state no longer changes                      */
    bp_step _Nullable resume;               /* acquires them again; NULL: like activate                        */
    bp_step _Nullable stop;                 /* the last step, after a successful activate; NULL: like suspend  */
    bp_release _Nullable release;
    bp_invoke _Nullable call;
    bp_cancel _Nullable cancel;             /* NULL: calls cannot be cancelled                                 */
    const void *_Nullable lane;             /* for the Swift SDK (lease.h); NULL otherwise                     */
    bp_review _Nullable review;             /* NULL: configurations are not reviewed before create             */
    uint32_t traits;                        /* BP_EXCLUSIVE, BP_RESTART_ON_SWAP; others are ignored            */
    uint32_t reserved;
    const bp_state *_Nullable state;        /* NULL: a swap carries no state over                              */
    bp_step _Nullable health;               /* fails if the component does not work; NULL: never called        */
    bp_reconfigure _Nullable reconfigure;   /* NULL: another configuration means another instance              */
    bp_open _Nullable open;                 /* these three serve the methods of the kind BP_STREAM             */
    bp_next _Nullable next;
    bp_close _Nullable close;
    bp_bytes annotation;                    /* a JSON text for the host, up to 256 KB; empty: none. A manager with the
                                               contract HTTPRoutes lists its routes: {"routes": [{"method": "GET",
                                               "path": "/books/:id", "kind": "answer"}]}; kind: answer, stream or
                                               events                                                          */
} bp_component;

/* ------------------------------------------------------------------------------------------ 3. host services */

/* Each service is a table of functions, fetched from the offer by id and revision. The first argument of every function
 * is the handle of the calling component. A function that the component's role may not use answers BP_FORBIDDEN; after
 * the component has stopped, all functions answer BP_RETIRED. The tables live as long as the process, so their
 * functions can be called at any time, from any thread. No function blocks. */

#define BP_LOG "backplane.log"      /* revision 1, every role */

enum { BP_LOG_TRACE = 0, BP_LOG_DEBUG = 1, BP_LOG_INFO = 2, BP_LOG_NOTICE = 3, BP_LOG_WARNING = 4, BP_LOG_ERROR = 5, BP_LOG_CRITICAL = 6 };

/* A named text. Never grows. */
typedef struct bp_pair {
    bp_bytes name, value;
} bp_pair;

typedef struct bp_log_1 {
    uint32_t size;
    uint32_t reserved;
    /* Returns 0 if messages of `level` are not written. It is cheap: call it before you compose a message. */
    int32_t (*is_enabled)(uint64_t component, uint32_t level);
    void (*write)(uint64_t component, uint32_t level, bp_bytes message, const bp_pair *_Nullable metadata, size_t metadata_count);
    /* Writes a message about the call with this frame. If the call has a trace, the host adds its id as `trace`. */
    void (*write_for_call)(uint64_t component, const bp_call *call, uint32_t level, bp_bytes message,
                                     const bp_pair *_Nullable metadata, size_t metadata_count);
} bp_log_1;

#define BP_CALLS "backplane.calls"  /* revision 1, every role that has wires */

/* The completion of a lookup, called exactly once. With BP_OK, found is set and borrowed; its wire is valid until the
 * component stops. */
typedef void (*BP_SENDABLE bp_found)(void *_Nullable context, int32_t status, const bp_connection *_Nullable found, bp_bytes payload);

typedef struct bp_calls_1 {
    uint32_t size;
    uint32_t reserved;
    /* Calls a collaborator: `wire` is the handle from the connection, `method` the index among the methods that the
     * wire declares. The host appends the component to the path of the frame. Returns an id by which the call can be
     * cancelled, or 0 if the call has already ended; calls of synchronous methods always have. */
    uint64_t (*call)(uint64_t component, uint64_t wire, uint32_t method, bp_bytes input, const bp_call *call, bp_done done, void *_Nullable context);
    void (*cancel)(uint64_t component, uint64_t id);
    /* Connects a manager that is not among the component's wires, and starts it if necessary. The host reads the
     * contract, its version and the methods from `needed`; the new wire is called like a declared one. `call` is the
     * call for which the manager is looked up, or NULL. For managers only. */
    void (*find)(uint64_t component, bp_bytes manager, const bp_wire *needed, const bp_call *_Nullable call, bp_found done, void *_Nullable context);
    /* Lists the managers that serve a contract, without starting any. The payload of BP_OK is JSON,
     * [{"name", "className", "version", "plugin"}], in the order of plugins and then of names. For managers only. */
    void (*providers)(uint64_t component, const bp_wire *needed, bp_done done, void *_Nullable context);
} bp_calls_1;

#define BP_STREAMS "backplane.streams"  /* revision 1, every role that has wires */

typedef struct bp_streams_1 {
    uint32_t size;
    uint32_t reserved;
    /* Opens a stream of a collaborator: `wire` is the handle from the connection, `method` the index among the methods
     * that the wire declares. The host appends the component to the path of the frame. Returns the stream's number,
     * which is never 0. A mistake is the answer to the first `next`. */
    uint64_t (*open)(uint64_t component, uint64_t wire, uint32_t method, bp_bytes input, const bp_call *call);
    /* Asks for elements, and answers as bp_next does: with BP_OK and a JSON array of 1 to `max` elements, with BP_END,
     * or with an error; after BP_END and errors there are no more elements. The error is stream.misused if an earlier
     * call has not been answered, or if no open stream has the number. It is stream.interrupted if the provider is
     * swapped or stops; the stream can then be opened again. */
    void (*next)(uint64_t component, uint64_t stream, uint32_t max, bp_done done, void *_Nullable context);
    /* Closes a stream; this is necessary after the stream's end as well. An outstanding `next` is answered with
     * BP_CANCELLED. Streams that the component has not closed are closed when it is suspended or stops. */
    void (*close)(uint64_t component, uint64_t stream);
} bp_streams_1;

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
    uint32_t status;                /* 200 to 599 */
    const bp_pair *_Nullable headers;
    size_t header_count;
    bp_bytes body;
} bp_http_response;

/* The completion of an exchange, called exactly once. With BP_OK, response is set and borrowed, whatever its HTTP
 * status is. */
typedef void (*BP_SENDABLE bp_http_done)(void *_Nullable context, int32_t status, const bp_http_response *_Nullable response, bp_bytes payload);

/* Passes on the next piece of a body; called exactly once, on any thread. With BP_OK, chunk is borrowed, and an empty
 * chunk is the end of the body; with any other status, chunk is the text of the error. */
typedef void (*BP_SENDABLE bp_chunk)(void *_Nullable context, int32_t status, bp_bytes chunk);

enum { BP_SOURCE_REPLAYABLE = 1 };  /* the body can be sent again: `rewind` is given */

/* Requests the next piece of a body, of at most `max` bytes. It must be answered once, on any thread. The host requests
 * one piece after another, and none after the end or an error. */
typedef void (*BP_SENDABLE bp_source_pull)(void *_Nullable context, uint64_t max, bp_chunk done, void *_Nullable done_context);

/* Restarts the body from its beginning, after the last pull was answered. The payload of BP_OK is ignored. */
typedef void (*BP_SENDABLE bp_source_rewind)(void *_Nullable context, bp_done done, void *_Nullable done_context);

/* Reports that the last requested piece is no longer needed; the request must still be answered, and soon. The report
 * may come before `pull` has returned. Ignore a report that comes after the answer. */
typedef void (*BP_SENDABLE bp_source_cancel)(void *_Nullable context);

/* Ends the use of a source, or of a context: called exactly once, when no function is called with it any more. */
typedef void (*BP_SENDABLE bp_source_release)(void *_Nullable context);

/* The body of a request, which is read while it is sent. The host copies the struct; the functions and `context` are
 * used until `release`. The host calls `release` once the body was sent or is no longer needed, for example because the
 * response came early: after the last pull was answered, and before the component's own `release`. */
typedef struct bp_source {
    uint32_t size;
    uint32_t flags;                         /* BP_SOURCE_REPLAYABLE or 0; others are ignored                        */
    int64_t length;                         /* of the whole body in bytes, or -1 if it is unknown                   */
    bp_source_pull _Nullable pull;          /* required                                                             */
    bp_source_rewind _Nullable rewind;      /* required of a replayable body; NULL otherwise                        */
    bp_source_cancel _Nullable cancel;      /* NULL: the host waits for the answer of every pull                    */
    bp_source_release _Nullable release;    /* NULL: nothing is released                                            */
    void *_Nullable context;
} bp_source;

enum {
    BP_HTTP_DECOMPRESS = 1,     /* request compressed content, and decode it                     */
    BP_HTTP_REPORT_ATTEMPTS = 2,/* report the outcome of each attempt                            */
    BP_HTTP_WHOLE = 4,          /* the whole body is received before the head is reported; the
                                   response may then be shared, or come from a cache             */
    BP_HTTP_REFRESH = 8         /* a cached response answers only if the server confirms it      */
};

/* The options of an exchange. A host refuses unsupported options, and unknown flags and names, with the error
 * network.unsupported before it sends anything. */
typedef struct bp_http_options {
    uint32_t size;
    uint32_t flags;                         /* BP_HTTP_DECOMPRESS, …                                                */
    int64_t total_ns, head_ns, read_ns;     /* time limits: until the end, until the head, and between bytes of the
                                               body; 0: no limit. The error is network.timeout                      */
    uint64_t max_body;                      /* bytes of the response's body, after decoding; 0: no limit            */
    bp_bytes upload;                        /* path of a file in the component's folder that is the request's body;
                                               empty: none                                                          */
    bp_bytes download;                      /* path of a file in the component's folder that the body is written to
                                               once it is complete; empty: it is read                               */
    const bp_pair *_Nullable named;         /* `executor`: a name from the manifest's `network.executors`;
                                               `redirects`: the maximum number to follow; 0 by default;
                                               `retry`: the rules for further attempts, such as
                                               `attempts=3 base=0.2 limit=10 after=60 statuses=503,504 any`;
                                               `attempt`: the number of the first attempt, above 1 if responses
                                               were rejected; `credential`: a name from the manifest's
                                               `network.credentials`; `account`: one that was signed in;
                                               `cache`: the rule for a cache, such as `disk for=60 swr=3600 sie=86400`
                                               (without `for`, the rule of HTTP); `tag`, any number of times: a name
                                               by which the response is removed from the cache; `equal`: `coalesce`,
                                               `reject` or `allow` a request that equals one in flight; `endpoint`:
                                               its name;
                                               `mock`: `on` or `off`, whether a mock answers                        */
    size_t named_count;
} bp_http_options;

enum {
    BP_HTTP_RESPONSE = 1,       /* the response                                                  */
    BP_HTTP_ATTEMPT = 2         /* the outcome of an attempt, not the response                   */
};

enum { BP_HTTP_STALE = 1 };     /* repeat the exchange with BP_HTTP_REFRESH, and accept its response, so that the cache
                                   has it for the next exchange                                  */

/* The head of the response, or the outcome of an attempt. */
typedef struct bp_http_head {
    uint32_t size;
    uint32_t kind;                          /* BP_HTTP_RESPONSE or BP_HTTP_ATTEMPT                                  */
    uint64_t exchange;                      /* the number that `open` returns, possibly after this report           */
    uint32_t status;                        /* 200 to 599; 0 for an attempt without a response                      */
    uint32_t attempt;                       /* the attempt that it answers, from 1                                  */
    const bp_pair *_Nullable headers;
    size_t header_count;
    bp_bytes protocol;                      /* "HTTP/1.1"; empty if it is unknown                                   */
    bp_bytes source;                        /* "network", "file", "memory", "disk", "mock" or "cassette"; the error's
                                               code for an attempt without a response                               */
    int64_t length;                         /* of the body, before any decoding; -1 if it is unknown                */
    int64_t after_ns;                       /* the time from the start of the exchange                              */
    bp_bytes url;                           /* after redirects; empty if it is the request's URL                    */
    int64_t age_ns;                         /* the age of a response from a cache; -1 for any other                 */
    uint32_t flags;                         /* BP_HTTP_STALE or 0; others are ignored                               */
    uint32_t reserved;
} bp_http_head;

/* The bytes of both bodies. */
typedef struct bp_http_progress {
    uint32_t size;
    uint32_t reserved;
    int64_t sent, to_send;                  /* to_send and to_receive are -1 if they are unknown                    */
    int64_t received, to_receive;           /* received: after decoding                                             */
} bp_http_progress;

/* Reports the head of the response, or the outcome of an attempt. From then on, and even within this function, the body
 * of the response can be read. */
typedef void (*BP_SENDABLE bp_http_headed)(void *_Nullable context, const bp_http_head *head);

/* Reports the progress each time that bytes of one of the bodies were sent or received. It must not block. */
typedef void (*BP_SENDABLE bp_http_progressed)(void *_Nullable context, const bp_http_progress *progress);

/* The component's side of an exchange. The host copies the struct. `ended` is called exactly once, after all other
 * functions have returned and the last read was answered: with BP_OK once the response's body was read to its end or
 * was written to its file, otherwise with the error. */
typedef struct bp_http_exchange {
    uint32_t size;
    uint32_t reserved;
    bp_http_headed _Nullable head;          /* required                                                             */
    bp_http_progressed _Nullable progress;  /* NULL: progress is not reported                                       */
    bp_done _Nullable ended;                /* required                                                             */
    void *_Nullable context;
} bp_http_exchange;

/* The exchanges of a component. An exchange ends when its response was read, by `cancel`, at its time limits, at the
 * deadline of its call, and with the component. If a response is not read for a minute, or for the time that the host
 * specifies, the exchange ends with network.timeout. At most two chunks are received before they are read. */
typedef struct bp_http_1 {
    uint32_t size;
    uint32_t reserved;
    /* Begins an exchange with complete bodies and without options. Returns its number, or 0 if it has already ended. */
    uint64_t (*send)(uint64_t component, const bp_http_request *request, const bp_call *call, bp_http_done done, void *_Nullable context);
    /* Begins an exchange whose bodies stream both ways. Its body is the request's `body`, the `source`, or the file of
     * `options`. Returns its number, or 0 if it has already ended. `release` of the source is always called. */
    uint64_t (*open)(uint64_t component, const bp_http_request *request, const bp_http_options *_Nullable options,
                     const bp_source *_Nullable source, const bp_http_exchange *exchange, const bp_call *call);
    /* Reads the next piece of the response's body, of at most `max` bytes and 256 KB. Only one read can be in flight. A
     * read that is not possible is answered with an error and has no effect. */
    void (*read)(uint64_t component, uint64_t exchange, uint64_t max, bp_chunk done, void *_Nullable context);
    /* Ends an exchange or a sign-in with BP_CANCELLED. Does nothing if it has already ended. */
    void (*cancel)(uint64_t component, uint64_t exchange);
    /* Signs in an account of a credential in the manifest's `network.credentials`, and replaces an account of the same
     * name. The sign-in reads `values`, such as `user` and `password`. The payload of BP_OK is the principal in decimal
     * digits, which differs after each sign-in. Returns a number for `cancel`, or 0 if the sign-in has ended. */
    uint64_t (*sign_in)(uint64_t component, bp_bytes credential, bp_bytes account, const bp_pair *_Nullable values,
                        size_t value_count, const bp_call *call, bp_done done, void *_Nullable context);
    /* Signs an account out, and answers before it returns. An account that is not signed in is ignored. */
    void (*sign_out)(uint64_t component, bp_bytes credential, bp_bytes account, bp_done done, void *_Nullable context);
    /* Accepts the response of an exchange with a `cache`; only accepted responses are stored. It can be called up to a
     * minute after the end of the exchange. Other exchanges are ignored. */
    void (*accept)(uint64_t component, uint64_t exchange);
} bp_http_1;

/* An executor carries out exchanges for its host. It is a manager that the manifest names under `network.executors`,
 * and it serves the contract `HTTPExecuting`, version 1.0.0, with two methods:
 * - `capabilities`, BP_ASYNC, without input: the answer is the sum of the executor's BP_EXECUTOR_… values. An exchange
 *   that needs another capability is refused before it begins.
 * - `exchange`, BP_STREAM, opened once for each exchange. The input is
 *       {"method": "POST", "url": "…", "headers": [["Accept", "text/plain"], …], "body": "d2hhbGU=",
 *        "isChunked": false, "decompresses": false}
 *   `credential` and `account` are added for an executor with BP_EXECUTOR_CREDENTIAL_NAMES, if the request has them.
 *   `body` is the body in Base64, up to 1 MB. A longer body is in `file`, an absolute path that is valid until the
 *   stream ends. Both are missing or null if the request has no body. `isChunked` is true if the sender did not know
 *   the body's length. The URL, the method and the header fields are valid; the executor frames the body. The first
 *   element is the head of the response, and the others are pieces of its body in Base64, best up to 64 KB:
 *       {"status": 200, "headers": [["Content-Type", "text/plain"], …], "version": "HTTP/1.1"}
 *       {"body": "TW9ieS1EaWNr"}
 *   Elements before the head may report how many bytes of the request's body the server has: {"sent": 65536}
 *   If the response is missing or incomplete, the stream fails with BP_ERROR and a code such as `network.failed`.
 *   `close` ends the exchange at any time. */
enum {
    BP_EXECUTOR_STREAMED_UPLOADS = 1,       /* bodies from streams, which may have an unknown length          */
    BP_EXECUTOR_DECOMPRESSION = 2,          /* requests for compressed content, which it decodes              */
    BP_EXECUTOR_CONTENT_IN_GET = 4,         /* a body with a GET or a HEAD                                    */
    BP_EXECUTOR_CREDENTIAL_NAMES = 16       /* use of the request's credential in the executor's own requests */
};

#define BP_TRANSFERS "backplane.transfers"  /* revision 1, communication controllers and network services */

#define BP_TRANSFER_NOW UINT64_MAX

/* The transfers of the component's plugin. The host runs them: they continue while the plugin is swapped, and after a
 * restart of the host. A state in the payload of BP_OK is a JSON object:
 *     {"id": "text/whale", "phase": "running", "bytes": 4096, "total": 8192, "progress": 0.5, "number": 17}
 * Phases are `waiting`, `running`, `paused`, `succeeded`, `failed` and `cancelled`. `upload`, `bytesPerSecond`,
 * `secondsLeft`, `restart`, `file` (an absolute path), `kept`, `status`, `response` (Base64) and `error` are present
 * where they apply. Functions return an id by which the operation can be cancelled, or 0 if it has already ended;
 * cancelling the operation does not cancel the transfer. */
typedef struct bp_transfers_1 {
    uint32_t size;
    uint32_t reserved;
    /* Begins a transfer, or continues an equal transfer with the same id. The payload of BP_OK is the transfer's state.
     * Downloads and uploads are JSON objects:
     *     {"id": "text/whale", "url": "https://books.example.org/whale", "download": "whale.epub"}
     *     {"id": "covers/whale", "method": "PUT", "url": "…", "headers": [["X-Shelf", "7"], …],
     *      "body": [{"bytes": "UEs="}, {"file": "whale.png"}], "type": "image/png"}
     * `bytes` are in Base64, and paths are below the component's folder. Optional are `existing` (`replace`, `keep` or
     * `number`), `sha256` (in Base64), `sizeLimit`, `priority`, `credential` and `account`. */
    uint64_t (*begin)(uint64_t component, bp_bytes transfer, const bp_call *_Nullable call, bp_done done,
                      void *_Nullable context);
    /* Changes a transfer: `pause`, `resume`, `cancel` or `remove`. The answer follows the change; the payload of BP_OK
     * is empty. */
    uint64_t (*change)(uint64_t component, bp_bytes id, bp_bytes change, const bp_call *_Nullable call, bp_done done,
                       void *_Nullable context);
    /* Waits for a state whose number is not `after`, and answers with it; a final state is answered at once. With
     * `after` 0 it waits for the transfer to begin; with BP_TRANSFER_NOW it answers at once with the current state. */
    uint64_t (*state)(uint64_t component, bp_bytes id, uint64_t after, const bp_call *_Nullable call, bp_done done,
                      void *_Nullable context);
    void (*cancel)(uint64_t component, uint64_t operation);
} bp_transfers_1;

#define BP_OPERATIONS "backplane.operations"    /* revision 1, every role but data access controllers */

/* The changes that users can make to a graph or a node (bp_operation.change). */
enum { BP_OPERATION_PAUSE = 1, BP_OPERATION_RESUME = 2, BP_OPERATION_CANCEL = 3 };

/* The states of a node. The last three are final. */
enum {
    BP_NODE_WAITING = 0,        /* for its inputs, for a place in its queue, or for its next attempt          */
    BP_NODE_RUNNING = 1,
    BP_NODE_PAUSING = 2,        /* a pause was requested, and the node's code still runs                      */
    BP_NODE_PAUSED = 3,
    BP_NODE_SUCCEEDED = 4,
    BP_NODE_FAILED = 5,         /* its code failed, or was not run because another node has failed            */
    BP_NODE_CANCELLED = 6,
    BP_NODE_STATES = 7          /* the number of states                                                       */
};

/* A graph of operations that a component runs. The host runs none of its nodes. It shows the graph to users, who may
 * control it. A swap treats the graph as a long call: the graph ends in the code that began it. The host copies the
 * struct; its functions and `context` are used until `release`, on any thread, several at the same time, and also
 * before `begin` has returned. The functions must not block. */
typedef struct bp_operation {
    uint32_t size;
    uint32_t reserved;
    bp_bytes name;                          /* for people to read                                             */
    bp_bytes queue;                         /* the name of the queue that runs it; empty: the component's own */
    uint64_t node_count;                    /* nodes have the numbers from 0 to node_count - 1                */
    /* Writes BP_NODE_STATES numbers: how many nodes are in each state. Required. */
    void (*_Nullable count)(void *_Nullable context, uint64_t *counts);
    /* Answers before it returns. The payload of BP_OK describes up to `max` nodes, from the number `from` on:
     *     [{"name": "books", "state": "running"}, {"name": "store", "state": "waiting", "needs": [0], "always": [0]}]
     * The states are `waiting`, `running`, `pausing`, `paused`, `succeeded`, `failed` and `cancelled`. `needs` are the
     * numbers of the nodes that the node waits for, and `always` the numbers among them that need not succeed.
     * NULL: nodes are not shown one by one. */
    void (*_Nullable describe)(void *_Nullable context, uint64_t from, uint64_t max, bp_done done, void *_Nullable done_context);
    /* Pauses, resumes or cancels (BP_OPERATION_PAUSE, …) the node with a number, or all nodes with -1. A swap that
     * cancels long calls cancels all nodes, too. NULL: the graph cannot be changed. */
    void (*_Nullable change)(void *_Nullable context, uint32_t change, int64_t node);
    /* Called exactly once, when the host no longer calls any function with the context, and always before the component's
     * own `release`. */
    void (*_Nullable release)(void *_Nullable context);
    void *_Nullable context;
    /* Called, perhaps several times, when a user follows the graph: report changes to the host from now on
     * (bp_operations_1.changed). NULL: changes are always reported. */
    void (*_Nullable watch)(void *_Nullable context);
} bp_operation;

/* The graphs of a component. */
typedef struct bp_operations_1 {
    uint32_t size;
    uint32_t reserved;
    /* Reports the start of a graph. Returns its number, or 0 if the host refuses it; `release` is then not called. */
    uint64_t (*begin)(uint64_t component, const bp_operation *operation);
    /* Reports the end of a graph. Does nothing if the graph has already ended. */
    void (*end)(uint64_t component, uint64_t operation);
    /* Reports that states of nodes have changed since the last such report; the host then asks for them (`describe`). */
    void (*changed)(uint64_t component, uint64_t operation);
} bp_operations_1;

/* An interceptor takes part in exchanges. It is a manager that the manifest names under `network.interceptors`, and it
 * serves the contract `Intercepting`, version 1.0.0, with four methods, all BP_ASYNC:
 * - `interests`, without input: the answer is the sum of the BP_INTERCEPT_… values that the interceptor takes part in.
 *   The host calls it for each exchange.
 * - `request`, with BP_INTERCEPT_REQUESTS once for each exchange. Input and answer are heads,
 *       {"method": "POST", "url": "…", "headers": [["Accept", "text/plain"], …], "digest": "e3b0c442…"}
 *   `digest`, with BP_INTERCEPT_DIGEST only, is the SHA-256 of the body; in the answer it is ignored.
 * - `attempt`, with BP_INTERCEPT_ATTEMPTS for each attempt and each redirect. The input is the head, and the answer is
 *   a list of fields to add, [["Signature", "…"], …]. The fields must be new, and the response must not depend on them.
 * - `events`, with BP_INTERCEPT_EVENTS. The input is what has happened since the last call, in order; the answer is null.
 *       {"events": [{"stage": "end", "exchange": 7, "method": "GET", "url": "…", "component": "BooksService",
 *                    "trace": "4bf9…", "attempt": 1, "status": 200, "sent": 0, "received": 512, "after": 1200000}, …],
 *        "lost": 0}
 *   Stages are `start`, `attempt`, `head`, `progress`, `retry`, `redirect` and `end`; later versions may add others.
 *   `component`, `trace`, `status`, `error` (a code) and `delay` (before a retry) are present where they apply; times
 *   are in nanoseconds. Exchanges do not wait for the answer, and an error does not fail them. `lost` counts events
 *   that were dropped since the last call.
 * An error of another method fails the exchange. */
enum {
    BP_INTERCEPT_REQUESTS = 1,              /* the head of each request                                       */
    BP_INTERCEPT_ATTEMPTS = 2,              /* the head of each attempt                                       */
    BP_INTERCEPT_DIGEST = 4,                /* the digest of the body, which must be one that can be resent   */
    BP_INTERCEPT_EVENTS = 8                 /* the events of exchanges with every host                        */
};

/* An authenticator adds the proof of an account's identity to requests. It is a manager that a credential of the type
 * `component` in the manifest's `network.credentials` names. It serves the contract `Authenticating`, version 1.0.0,
 * with three methods, all BP_ASYNC:
 * - `digests`, without input: the answer is true if the host should pass on the digest of a request's body; the body
 *   must then be one that can be resent. The host calls it for each request.
 * - `prepare`, for each request. The input is the head of the request, and the account that sends it:
 *       {"method": "POST", "url": "...", "headers": [["Accept", "text/plain"], ...], "digest": "e3b0c442...",
 *        "account": "ann", "principal": 7, "values": {"key": "..."}, "failures": 0, "proof": [], "responseHeaders": []}
 *   `digest` is the SHA-256 of the body; `values` are from the credential and the account's sign-in. The answer is the
 *   list of fields that are the proof, [["Authorization", "..."], ...], or [] if nothing says that the server needs
 *   one.
 * - `answer`, after a response with the status 401. The input also has the `status` and the `responseHeaders` of the
 *   response, in `proof` the fields that were sent last, and in `failures` the number of failures in this exchange. The
 *   answer is the list of fields of another proof, or [] if the response is the result.
 * An error fails the exchange. */

#define BP_STORE "backplane.store"  /* revisions 1 and 2, data access controllers */

/* A record of a collection: JSON with an id. Collections belong to the component, and no other component sees them. */
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

/* A selection of records for revision 1, in the order of their ids: the records with the given ids, or all records. */
typedef struct bp_store_query {
    uint32_t size;
    uint32_t reserved;
    bp_bytes collection;
    const bp_bytes *_Nullable ids;  /* NULL: all */
    size_t id_count;
    uint64_t offset, limit;         /* of the selected records; limit 0 only counts them */
} bp_store_query;

/* The completion of a query, called exactly once. With BP_OK, records are borrowed, and total is the number of all
 * selected records. */
typedef void (*BP_SENDABLE bp_store_done)(void *_Nullable context, int32_t status, const bp_record *_Nullable records, size_t record_count,
                                          uint64_t total, bp_bytes payload);

typedef struct bp_store_1 {
    uint32_t size;
    uint32_t reserved;
    /* Makes all changes in order, or none. If the host's store is a file, changes that were acknowledged survive the
     * end of the process. The payload of BP_OK is empty. */
    void (*write)(uint64_t component, const bp_store_change *_Nullable changes, size_t change_count, bp_done done, void *_Nullable context);
    void (*query)(uint64_t component, const bp_store_query *query, bp_store_done done, void *_Nullable context);
} bp_store_1;

/* Revision 2: declared indexes, conditions, and pages that begin where the previous page ended. A component may use
 * both revisions, which work on the same records. Values of properties are passed as JSON, as in the records:
 * `"Verne"`, `1870`, `true`, `null`. Their order is null, false, true, numbers by value, texts by their UTF-8 bytes. */

enum {
    BP_INDEX_UNIQUE = 1,                    /* records with equal values are refused, unless one value is null         */
    BP_INDEX_TEXT = 2                       /* the words of the properties are indexed, for `search`. A host without
                                               full text indexes the values instead                                   */
};

/* An index over properties of a collection's records, which the host reads from their JSON. A property that is missing,
 * a list or an object counts as null. With BP_INDEX_TEXT, texts and lists of texts are indexed. The last three fields
 * are read only with BP_INDEX_TEXT. */
typedef struct bp_store_index {
    uint32_t size;
    uint32_t flags;                         /* BP_INDEX_… */
    bp_bytes name;                          /* empty: the key paths, separated by commas */
    const bp_bytes *_Nullable paths;        /* `title`, `author.name`; the first sorts first */
    size_t path_count;
    bp_bytes tokenizer;                     /* "unicode", "english" or "substrings"; empty: "unicode" */
    const uint32_t *_Nullable prefixes;     /* the lengths of beginnings of words that are found fastest, 1 to 32 */
    size_t prefix_count;                    /* at most 8 */
} bp_store_index;

/* A collection and all of its indexes. */
typedef struct bp_store_collection {
    uint32_t size;
    uint32_t reserved;
    bp_bytes name;
    const bp_store_index *_Nullable indexes;
    size_t index_count;
} bp_store_collection;

enum { BP_STORE_IF_VERSION = 1, BP_STORE_IF_UNCHANGED = 2 };

/* A condition of a batch or a selection; if the condition does not hold, the operation fails with `store.conflict`. */
typedef struct bp_store_condition {
    uint32_t size;
    uint32_t kind;
    bp_bytes collection, id;        /* id: of BP_STORE_IF_VERSION */
    int64_t number;                 /* BP_STORE_IF_VERSION: the record's version, 0 for no record;
                                       BP_STORE_IF_UNCHANGED: the last change of the collection that is known */
} bp_store_condition;

/* Changes that are made together, in order, if all conditions hold; otherwise nothing is changed. */
typedef struct bp_store_batch {
    uint32_t size;
    uint32_t reserved;
    const bp_store_change *_Nullable changes;
    size_t change_count;
    const bp_store_condition *_Nullable conditions;
    size_t condition_count;
} bp_store_batch;

/* The completion of a batch, called exactly once. With BP_OK, numbers are borrowed, one for each change: the version of
 * the saved record, or the number of the deletion; 0 for a deletion that found nothing. */
typedef void (*BP_SENDABLE bp_store_written)(void *_Nullable context, int32_t status, const int64_t *_Nullable numbers, size_t number_count,
                                             bp_bytes payload);

enum {
    BP_SELECT_DESCENDING = 1,           /* from the last record to the first                              */
    BP_SELECT_WITHOUT_VALUES = 2,       /* the records' values are omitted                                */
    BP_SELECT_AFTER_FROM = 4,           /* values that equal `from` are excluded                          */
    BP_SELECT_THROUGH_TO = 8,           /* values that equal `to` are included                            */
    BP_SELECT_PREFIX = 16               /* `from` is a text that the values begin with; `to` is not read  */
};

/* A selection of records in one collection: the records with the given ids, or a range of an index or of the ids. */
typedef struct bp_store_selection {
    uint32_t size;
    uint32_t flags;                         /* BP_SELECT_… */
    bp_bytes collection;
    const bp_bytes *_Nullable ids;          /* NULL: a range */
    size_t id_count;
    bp_bytes index;                         /* the index of the range; empty: the ids, which are texts */
    const bp_bytes *_Nullable equal;        /* JSON: the values of the index's first properties */
    size_t equal_count;
    bp_bytes from, to;                      /* JSON: the limits of the index's next property; empty: no limit. A range
                                               contains only values of the same kind as its limits */
    bp_bytes after;                         /* `next` of the page before; empty: the first page */
    uint64_t limit;                         /* the maximum number of records; at most 10,000 are returned */
    const bp_store_condition *_Nullable conditions;     /* of the state that the page is read from */
    size_t condition_count;
} bp_store_selection;

/* A search for words in one collection. The most relevant records (BM25) come first. Every word of the text must be in
 * one of the index's properties. A word that ends with `*` is a prefix, and words in quotation marks form a phrase.
 * Each write slightly changes the relevance of all records: to miss no record and to see none twice, add a condition
 * that binds the next page to the state of the first page. */
typedef struct bp_store_search {
    uint32_t size;
    uint32_t flags;                         /* BP_SELECT_WITHOUT_VALUES */
    bp_bytes collection;
    bp_bytes index;                         /* the name of an index with BP_INDEX_TEXT */
    bp_bytes text;                          /* 1 to 4,096 bytes */
    uint64_t limit;                         /* the maximum number of records; at most 10,000 are returned */
    const bp_store_condition *_Nullable conditions;     /* of the state that the records are read from */
    size_t condition_count;
    bp_bytes after;                         /* `next` of the page before; empty: the first page */
} bp_store_search;

typedef struct bp_store_record {
    uint32_t size;
    uint32_t reserved;
    bp_bytes id;
    bp_bytes value;                 /* JSON */
    int64_t version;                /* increases with each write of this id, even after the record was deleted */
} bp_store_record;

/* A page of records, all from one state of the store. */
typedef struct bp_store_page {
    uint32_t size;
    uint32_t reserved;
    const bp_store_record *_Nullable records;
    size_t record_count;
    bp_bytes next;                  /* where the next page begins, valid for ever; empty: this is the last page */
    int64_t change;                 /* the number of the collection's last change; 0: none */
    int64_t component_change;       /* the number of the last change in any of the component's collections */
} bp_store_page;

/* The completion of a read, called exactly once. With BP_OK, page is set and borrowed. */
typedef void (*BP_SENDABLE bp_store_read)(void *_Nullable context, int32_t status, const bp_store_page *_Nullable page, bp_bytes payload);

enum { BP_CHANGE_INSERT = 1, BP_CHANGE_UPDATE = 2, BP_CHANGE_DELETE = 3, BP_CHANGE_DELETE_ALL = 4 };

/* A change of a collection, from its log. */
typedef struct bp_store_logged {
    uint32_t size;
    uint32_t kind;
    int64_t number;
    bp_bytes id;                    /* empty: BP_CHANGE_DELETE_ALL */
    bp_bytes value;                 /* the saved record, unless a later change has replaced or deleted it */
} bp_store_logged;

enum {
    BP_CHANGES_MORE = 1,            /* there are more changes behind these                                       */
    BP_CHANGES_MISSED = 2           /* changes before these are no longer in the log: read the collection again  */
};

typedef struct bp_store_changes {
    uint32_t size;
    uint32_t flags;
    const bp_store_logged *_Nullable changes;
    size_t change_count;
    int64_t last;                   /* the number from which to request the next changes */
} bp_store_changes;

/* The completion of a read of the log, called exactly once. With BP_OK, changes is set and borrowed. */
typedef void (*BP_SENDABLE bp_store_changed)(void *_Nullable context, int32_t status, const bp_store_changes *_Nullable changes, bp_bytes payload);

/* Each function except `cancel` returns an id by which the operation can be cancelled, or 0 if it has already ended.
 * `call` is the frame of the call that needs the operation, or NULL; its deadline ends the operation. A batch that ends
 * with BP_CANCELLED or BP_DEADLINE has changed nothing. */
typedef struct bp_store_2 {
    uint32_t size;
    uint32_t reserved;
    /* Gives a collection the declared indexes. New indexes are built from the stored records, while writes continue.
     * Other indexes are removed once no instance of the component declares them. The function is cheap if no index
     * changes. If records have equal values in a new unique index, it fails with `store.duplicate`, and that index is
     * not used. The payload of BP_OK is empty. */
    uint64_t (*define)(uint64_t component, const bp_store_collection *collection, const bp_call *_Nullable call, bp_done done, void *_Nullable context);
    uint64_t (*write)(uint64_t component, const bp_store_batch *batch, const bp_call *_Nullable call, bp_store_written done, void *_Nullable context);
    uint64_t (*read)(uint64_t component, const bp_store_selection *selection, const bp_call *_Nullable call, bp_store_read done, void *_Nullable context);
    /* Counts a selection's records, regardless of `after` and `limit`. The payload of BP_OK is the number in JSON. */
    uint64_t (*count)(uint64_t component, const bp_store_selection *selection, const bp_call *_Nullable call, bp_done done, void *_Nullable context);
    /* Reads at most 10,000 changes of a collection after the change `since`. The log has at least 100,000 changes. */
    uint64_t (*changes)(uint64_t component, bp_bytes collection, int64_t since, uint64_t limit, const bp_call *_Nullable call, bp_store_changed done,
                        void *_Nullable context);
    /* Cancels an operation. The operation is still answered, with its result if it was too late to cancel it. Unknown
     * ids are ignored. */
    void (*cancel)(uint64_t component, uint64_t id);
    /* Finds records by their words. An engine without full text fails with `store.unsupported`. */
    uint64_t (*search)(uint64_t component, const bp_store_search *search, const bp_call *_Nullable call, bp_store_read done,
                                 void *_Nullable context);
    /* Waits until a collection has a change after the change `since`, or no longer has all of them in its log; `changes`
     * then reads them. Writers do not wait for this. The payload of BP_OK is empty. */
    uint64_t (*wait)(uint64_t component, bp_bytes collection, int64_t since, const bp_call *_Nullable call, bp_done done,
                               void *_Nullable context);
} bp_store_2;

#define BP_TIMERS "backplane.timers"    /* revision 1, every role */

/* Runs the body of a timer. `context` is the timer's. The body is a call into the component: it must be answered once,
 * on any thread, with any payload. A status other than BP_OK and BP_CANCELLED is written to the log with the names of
 * the component and the timer. `call` is borrowed; it is the frame for the calls of the body, with the body's deadline.
 * The bodies of one component's timers are started one after another on one thread of the host: answer later instead
 * of blocking. */
typedef void (*BP_SENDABLE bp_timer_fire)(void *_Nullable context, const bp_call *call, uint64_t run, bp_done done, void *_Nullable done_context);

/* Cancels the body `run`, as bp_cancel cancels a call, when its deadline has passed or the host abandons it. The body
 * must still be answered, and soon. Ignore an unknown or ended run. */
typedef void (*BP_SENDABLE bp_timer_cancel)(void *_Nullable context, uint64_t run);

/* Ends the use of a timer's context: called exactly once, when the timer has ended and its last body has been answered,
 * and always before the component's own `release`. */
typedef void (*BP_SENDABLE bp_timer_release)(void *_Nullable context);

/* A timer of a component. The host copies it; the three functions and `context` are used until `release`. */
typedef struct bp_timer {
    uint32_t size;
    uint32_t reserved;
    bp_bytes name;                          /* unique in the component, at most 128 bytes; empty: "timer 1", "timer 2", …
                                               in the order in which such timers are added */
    int64_t delay_ns;                       /* until the first body; 0 with a period: the period                    */
    int64_t period_ns;                      /* between two bodies, at least 1,000,000; 0: there is only one         */
    int64_t jitter_ns;                      /* each body is delayed by a random time up to this, at most the period */
    int64_t limit_ns;                       /* the time a body has until its deadline; 0: a minute                  */
    bp_timer_fire _Nullable fire;           /* required                                                             */
    bp_timer_cancel _Nullable cancel;       /* NULL: a body cannot be cancelled                                     */
    bp_timer_release _Nullable release;     /* NULL: nothing is released                                            */
    void *_Nullable context;
} bp_timer;

/* The timers of a component, which the host runs. They can be added at any time from `create` on. They fire from the
 * end of `activate` until the component begins to stop. During a swap they pause: from the time when the swap waits for
 * the component's calls until the new instance serves. They end with the instance.
 *
 * - One timer's bodies never overlap. Times that pass while a body runs are skipped; the period is not shifted by them.
 *   Times that pass while the component is suspended cause one body, when the component serves again.
 * - A body counts as a call: a swap, a change and a stop wait until it is answered or its deadline has passed.
 * - In a swap only the timers of one instance fire. A timer of the new instance continues the old instance's timer of
 *   the same name: it is due at the same time or, with another period, one new period after the old timer's last time.
 *   Timers of the old instance end if the new instance has not added them when it begins to serve. If a body of the old
 *   instance still runs, the new timer of its name waits until that body has ended or its deadline has passed.
 * - A component has at most 10,000 timers. */
typedef struct bp_timers_1 {
    uint32_t size;
    uint32_t reserved;
    /* Adds a timer, and returns its number. Calls `done` before it returns: with BP_OK, or with the reason why the
     * timer was not added; the number is then 0, and `release` is not called. */
    uint64_t (*add)(uint64_t component, const bp_timer *timer, bp_done done, void *_Nullable context);
    /* Ends a timer; a running body continues. Does nothing if the timer has already ended. */
    void (*remove)(uint64_t component, uint64_t timer);
} bp_timers_1;

/* ------------------------------------------------------------------------------------------------ 4. the entry */

/* Returns the function table of a host service, such as (BP_HTTP, 1), or NULL if the host does not have it. It can be
 * called on any thread at any time. */
typedef const void *_Nullable (*BP_SENDABLE bp_get_interface)(bp_bytes id, uint32_t revision);

/* The host's side of the handshake. */
typedef struct bp_offer {
    uint32_t size;
    uint32_t abi_min, abi_max;      /* the range of ABI numbers that the host supports */
    uint32_t lane_revision;         /* for the Swift SDK */
    bp_bytes host_version;          /* "0.1.0" */
    bp_bytes toolchain;             /* the compiler of the host */
    bp_get_interface get_interface;
} bp_offer;

/* The offset and size of a field, as determined by the compiler. Never grows. */
typedef struct bp_field {
    const char *_Nullable name;     /* "bp_call.path" */
    uint32_t offset, size;
} bp_field;

/* The plugin's layout of this header, which the host compares with its own; bp_check_self() fills it in. Never grows. */
typedef struct bp_self_check {
    uint64_t layout_hash;                       /* of the fields */
    const bp_field *_Nullable fields;           /* BP_LAYOUT */
    size_t field_count;
} bp_self_check;

/* The plugin's side of the handshake. The host sets `size` and zeroes the rest. The plugin writes only fields that this
 * size covers. If its own struct is smaller, it lowers `size` to the size of that struct. */
typedef struct bp_answer {
    uint32_t size;
    uint32_t abi;                   /* one number from both ranges */
    uint32_t lane_revision;         /* of the Swift SDK; 0: the plugin does not use the native lane */
    uint32_t reserved;
    bp_bytes id, version;           /* "org.example.clock", "1.0.0" */
    bp_bytes toolchain;             /* the compiler of the plugin, or empty */
    const bp_component *_Nullable components;
    size_t component_count;
    bp_bytes problems;              /* errors of the plugin itself, one in each line; empty: none. With errors, the id
                                     * may be empty. */
    bp_self_check self_check;       /* bp_check_self(), see 6 */
} bp_answer;

/* Exports the entry, even if the library is compiled with -fvisibility=hidden. */
#ifndef BP_EXPORT
#define BP_EXPORT __attribute__((visibility("default")))
#endif

/* The entry of a plugin. It only describes the plugin: no I/O, no threads. It is called once for each loaded copy, on
 * one thread, with an answer whose fields are zero. It returns BP_OK; or BP_UNIMPLEMENTED, without having written
 * anything, if it supports no ABI number of the offer. Any other value means that the plugin refuses to be loaded.
 * `_v1` is the version of this function's signature, which never changes. */
BP_EXPORT int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer);

/* --------------------------------------------------------------------------------------------- 5. the identity */

/* One record in the ELF section "backplane", little-endian, 8-byte aligned. A library without it is not loaded.
 * A plugin that links the Backplane SDK has the record; any other plugin writes
 *
 *     BP_IDENTITY("org.example.clock", "1.0.0")
 *
 * once, in one file, at file scope. Several records complete each other. The host finds the section by its name and
 * requires no flags. A linker that drops unused sections (--gc-sections, usual in Rust and Zig) also drops this
 * section, unless it has SHF_GNU_RETAIN (`retain` below; "aR" in assembler) or the entry refers to it. Other languages
 * write these bytes:
 *     0   8 bytes   "BACKPLNE"
 *     8   uint32    320, the size of the record; a longer record begins with these fields, and a shorter one, of at
 *                   least 24 bytes, omits the last fields
 *    12   uint32    lowest ABI number that the plugin supports
 *    16   uint32    highest ABI number
 *    20   uint32    Swift compiler, major * 1000 + minor, required of a library with Swift code; 0: none, or in
 *                   another record
 *    24   32 bytes  version of the SDK, zero-padded text; empty without it
 *    56  160 bytes  toolchain, zero-padded text
 *   216   72 bytes  the plugin's id, zero-padded text; empty: given only in its answer
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

/* A plugin that is compiled with this header only sets `.self_check = bp_check_self()` in its answer. The host compares the
 * hash, which covers the name, offset and size of every field of every struct. Equal hashes mean the same header and the
 * same layout. Otherwise one side may be newer, and the host compares every field that both sides have. If a field
 * differs, the plugin is refused with the name of the field and both offsets.
 * Other languages fill in the table in any order. The hash is FNV-1a (64 bits) over the name of each field with its
 * terminating zero, its offset and its size, as four bytes each, little-endian.
 * A table must contain bp_call.path, bp_method.name, bp_component.call, bp_creation.handle and bp_answer.components.
 * Fields that the table omits are not compared: include the fields of every struct that you use. */
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
    BP_FIELD(bp_state, import_state), BP_FIELD(bp_state, lane), \
    BP_FIELD(bp_component, size), BP_FIELD(bp_component, role), BP_FIELD(bp_component, class_name), BP_FIELD(bp_component, version), \
    BP_FIELD(bp_component, contract), BP_FIELD(bp_component, contract_version), BP_FIELD(bp_component, methods), \
    BP_FIELD(bp_component, method_count), BP_FIELD(bp_component, wires), BP_FIELD(bp_component, wire_count), BP_FIELD(bp_component, type), \
    BP_FIELD(bp_component, create), BP_FIELD(bp_component, activate), BP_FIELD(bp_component, suspend), BP_FIELD(bp_component, resume), \
    BP_FIELD(bp_component, stop), BP_FIELD(bp_component, release), BP_FIELD(bp_component, call), BP_FIELD(bp_component, cancel), \
    BP_FIELD(bp_component, lane), BP_FIELD(bp_component, review), BP_FIELD(bp_component, traits), \
    BP_FIELD(bp_component, reserved), BP_FIELD(bp_component, state), BP_FIELD(bp_component, health), BP_FIELD(bp_component, reconfigure), \
    BP_FIELD(bp_component, open), BP_FIELD(bp_component, next), BP_FIELD(bp_component, close), \
    BP_FIELD(bp_component, annotation), \
    BP_FIELD(bp_pair, name), BP_FIELD(bp_pair, value), \
    BP_FIELD(bp_log_1, size), BP_FIELD(bp_log_1, reserved), BP_FIELD(bp_log_1, is_enabled), BP_FIELD(bp_log_1, write), \
    BP_FIELD(bp_log_1, write_for_call), \
    BP_FIELD(bp_http_request, size), BP_FIELD(bp_http_request, reserved), BP_FIELD(bp_http_request, method), BP_FIELD(bp_http_request, url), \
    BP_FIELD(bp_http_request, headers), BP_FIELD(bp_http_request, header_count), BP_FIELD(bp_http_request, body), \
    BP_FIELD(bp_http_response, size), BP_FIELD(bp_http_response, status), BP_FIELD(bp_http_response, headers), \
    BP_FIELD(bp_http_response, header_count), BP_FIELD(bp_http_response, body), \
    BP_FIELD(bp_http_1, size), BP_FIELD(bp_http_1, reserved), BP_FIELD(bp_http_1, send), BP_FIELD(bp_http_1, open), \
    BP_FIELD(bp_http_1, read), BP_FIELD(bp_http_1, cancel), BP_FIELD(bp_http_1, sign_in), BP_FIELD(bp_http_1, sign_out), \
    BP_FIELD(bp_http_1, accept), \
    BP_FIELD(bp_source, size), BP_FIELD(bp_source, flags), BP_FIELD(bp_source, length), BP_FIELD(bp_source, pull), \
    BP_FIELD(bp_source, rewind), BP_FIELD(bp_source, cancel), BP_FIELD(bp_source, release), BP_FIELD(bp_source, context), \
    BP_FIELD(bp_http_options, size), BP_FIELD(bp_http_options, flags), BP_FIELD(bp_http_options, total_ns), \
    BP_FIELD(bp_http_options, head_ns), BP_FIELD(bp_http_options, read_ns), BP_FIELD(bp_http_options, max_body), \
    BP_FIELD(bp_http_options, upload), BP_FIELD(bp_http_options, download), BP_FIELD(bp_http_options, named), \
    BP_FIELD(bp_http_options, named_count), \
    BP_FIELD(bp_http_head, size), BP_FIELD(bp_http_head, kind), BP_FIELD(bp_http_head, exchange), \
    BP_FIELD(bp_http_head, status), BP_FIELD(bp_http_head, attempt), \
    BP_FIELD(bp_http_head, headers), BP_FIELD(bp_http_head, header_count), BP_FIELD(bp_http_head, protocol), \
    BP_FIELD(bp_http_head, source), BP_FIELD(bp_http_head, length), \
    BP_FIELD(bp_http_head, after_ns), BP_FIELD(bp_http_head, url), BP_FIELD(bp_http_head, age_ns), \
    BP_FIELD(bp_http_head, flags), BP_FIELD(bp_http_head, reserved), \
    BP_FIELD(bp_http_progress, size), BP_FIELD(bp_http_progress, reserved), BP_FIELD(bp_http_progress, sent), \
    BP_FIELD(bp_http_progress, to_send), BP_FIELD(bp_http_progress, received), BP_FIELD(bp_http_progress, to_receive), \
    BP_FIELD(bp_http_exchange, size), BP_FIELD(bp_http_exchange, reserved), BP_FIELD(bp_http_exchange, head), \
    BP_FIELD(bp_http_exchange, progress), BP_FIELD(bp_http_exchange, ended), BP_FIELD(bp_http_exchange, context), \
    BP_FIELD(bp_transfers_1, size), BP_FIELD(bp_transfers_1, reserved), BP_FIELD(bp_transfers_1, begin), \
    BP_FIELD(bp_transfers_1, change), BP_FIELD(bp_transfers_1, state), BP_FIELD(bp_transfers_1, cancel), \
    BP_FIELD(bp_operation, size), BP_FIELD(bp_operation, reserved), BP_FIELD(bp_operation, name), BP_FIELD(bp_operation, queue), \
    BP_FIELD(bp_operation, node_count), BP_FIELD(bp_operation, count), BP_FIELD(bp_operation, describe), \
    BP_FIELD(bp_operation, change), BP_FIELD(bp_operation, release), BP_FIELD(bp_operation, context), \
    BP_FIELD(bp_operation, watch), \
    BP_FIELD(bp_operations_1, size), BP_FIELD(bp_operations_1, reserved), BP_FIELD(bp_operations_1, begin), \
    BP_FIELD(bp_operations_1, end), BP_FIELD(bp_operations_1, changed), \
    BP_FIELD(bp_calls_1, size), BP_FIELD(bp_calls_1, reserved), BP_FIELD(bp_calls_1, call), BP_FIELD(bp_calls_1, cancel), \
    BP_FIELD(bp_calls_1, find), BP_FIELD(bp_calls_1, providers), \
    BP_FIELD(bp_streams_1, size), BP_FIELD(bp_streams_1, reserved), BP_FIELD(bp_streams_1, open), BP_FIELD(bp_streams_1, next), \
    BP_FIELD(bp_streams_1, close), \
    BP_FIELD(bp_record, size), BP_FIELD(bp_record, reserved), BP_FIELD(bp_record, collection), BP_FIELD(bp_record, id), BP_FIELD(bp_record, value), \
    BP_FIELD(bp_store_change, size), BP_FIELD(bp_store_change, kind), BP_FIELD(bp_store_change, collection), \
    BP_FIELD(bp_store_change, id), BP_FIELD(bp_store_change, value), \
    BP_FIELD(bp_store_query, size), BP_FIELD(bp_store_query, reserved), BP_FIELD(bp_store_query, collection), BP_FIELD(bp_store_query, ids), \
    BP_FIELD(bp_store_query, id_count), BP_FIELD(bp_store_query, offset), BP_FIELD(bp_store_query, limit), \
    BP_FIELD(bp_store_1, size), BP_FIELD(bp_store_1, reserved), BP_FIELD(bp_store_1, write), BP_FIELD(bp_store_1, query), \
    BP_FIELD(bp_store_index, size), BP_FIELD(bp_store_index, flags), BP_FIELD(bp_store_index, name), \
    BP_FIELD(bp_store_index, paths), BP_FIELD(bp_store_index, path_count), \
    BP_FIELD(bp_store_index, tokenizer), BP_FIELD(bp_store_index, prefixes), BP_FIELD(bp_store_index, prefix_count), \
    BP_FIELD(bp_store_collection, size), BP_FIELD(bp_store_collection, reserved), BP_FIELD(bp_store_collection, name), \
    BP_FIELD(bp_store_collection, indexes), BP_FIELD(bp_store_collection, index_count), \
    BP_FIELD(bp_store_condition, size), BP_FIELD(bp_store_condition, kind), BP_FIELD(bp_store_condition, collection), \
    BP_FIELD(bp_store_condition, id), BP_FIELD(bp_store_condition, number), \
    BP_FIELD(bp_store_batch, size), BP_FIELD(bp_store_batch, reserved), BP_FIELD(bp_store_batch, changes), \
    BP_FIELD(bp_store_batch, change_count), BP_FIELD(bp_store_batch, conditions), BP_FIELD(bp_store_batch, condition_count), \
    BP_FIELD(bp_store_selection, size), BP_FIELD(bp_store_selection, flags), BP_FIELD(bp_store_selection, collection), \
    BP_FIELD(bp_store_selection, ids), BP_FIELD(bp_store_selection, id_count), BP_FIELD(bp_store_selection, index), \
    BP_FIELD(bp_store_selection, equal), BP_FIELD(bp_store_selection, equal_count), BP_FIELD(bp_store_selection, from), \
    BP_FIELD(bp_store_selection, to), BP_FIELD(bp_store_selection, after), BP_FIELD(bp_store_selection, limit), \
    BP_FIELD(bp_store_selection, conditions), BP_FIELD(bp_store_selection, condition_count), \
    BP_FIELD(bp_store_search, size), BP_FIELD(bp_store_search, flags), BP_FIELD(bp_store_search, collection), \
    BP_FIELD(bp_store_search, index), BP_FIELD(bp_store_search, text), BP_FIELD(bp_store_search, limit), \
    BP_FIELD(bp_store_search, conditions), BP_FIELD(bp_store_search, condition_count), BP_FIELD(bp_store_search, after), \
    BP_FIELD(bp_store_record, size), BP_FIELD(bp_store_record, reserved), BP_FIELD(bp_store_record, id), \
    BP_FIELD(bp_store_record, value), BP_FIELD(bp_store_record, version), \
    BP_FIELD(bp_store_page, size), BP_FIELD(bp_store_page, reserved), BP_FIELD(bp_store_page, records), \
    BP_FIELD(bp_store_page, record_count), \
    BP_FIELD(bp_store_page, next), BP_FIELD(bp_store_page, change), BP_FIELD(bp_store_page, component_change), \
    BP_FIELD(bp_store_logged, size), BP_FIELD(bp_store_logged, kind), BP_FIELD(bp_store_logged, number), \
    BP_FIELD(bp_store_logged, id), BP_FIELD(bp_store_logged, value), \
    BP_FIELD(bp_store_changes, size), BP_FIELD(bp_store_changes, flags), BP_FIELD(bp_store_changes, changes), \
    BP_FIELD(bp_store_changes, change_count), BP_FIELD(bp_store_changes, last), \
    BP_FIELD(bp_store_2, size), BP_FIELD(bp_store_2, reserved), BP_FIELD(bp_store_2, define), BP_FIELD(bp_store_2, write), \
    BP_FIELD(bp_store_2, read), BP_FIELD(bp_store_2, count), BP_FIELD(bp_store_2, changes), BP_FIELD(bp_store_2, cancel), \
    BP_FIELD(bp_store_2, search), BP_FIELD(bp_store_2, wait), \
    BP_FIELD(bp_timer, size), BP_FIELD(bp_timer, reserved), BP_FIELD(bp_timer, name), BP_FIELD(bp_timer, delay_ns), \
    BP_FIELD(bp_timer, period_ns), BP_FIELD(bp_timer, jitter_ns), BP_FIELD(bp_timer, limit_ns), BP_FIELD(bp_timer, fire), \
    BP_FIELD(bp_timer, cancel), BP_FIELD(bp_timer, release), BP_FIELD(bp_timer, context), \
    BP_FIELD(bp_timers_1, size), BP_FIELD(bp_timers_1, reserved), BP_FIELD(bp_timers_1, add), BP_FIELD(bp_timers_1, remove), \
    BP_FIELD(bp_offer, size), BP_FIELD(bp_offer, abi_min), BP_FIELD(bp_offer, abi_max), BP_FIELD(bp_offer, lane_revision), \
    BP_FIELD(bp_offer, host_version), BP_FIELD(bp_offer, toolchain), BP_FIELD(bp_offer, get_interface), \
    BP_FIELD(bp_answer, size), BP_FIELD(bp_answer, abi), BP_FIELD(bp_answer, lane_revision), BP_FIELD(bp_answer, reserved), BP_FIELD(bp_answer, id), \
    BP_FIELD(bp_answer, version), BP_FIELD(bp_answer, toolchain), BP_FIELD(bp_answer, components), BP_FIELD(bp_answer, component_count), \
    BP_FIELD(bp_answer, problems), BP_FIELD(bp_answer, self_check), \
    BP_FIELD(bp_field, name), BP_FIELD(bp_field, offset), BP_FIELD(bp_field, size), \
    BP_FIELD(bp_self_check, layout_hash), BP_FIELD(bp_self_check, fields), \
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
    const size_t count = sizeof fields / sizeof *fields;
    const bp_self_check check = {bp_layout_hash(fields, count), fields, count};
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
