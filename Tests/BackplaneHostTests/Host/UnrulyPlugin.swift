import Backplane
import BackplaneTestKit
import TestFixtures

@testable import BackplaneHost

/// A plugin in C that does what the header forbids, compiled while the tests run.
enum UnrulyPlugin {
    /// A host of managers named after their classes, whose plugin was compiled with `flags`.
    ///
    /// - Parameters:
    ///   - classes: of those in the source, `Unruly` and the ones that fail in their lifecycle.
    ///   - choice: what `choice.number` is in it: a plugin that is compiled once may misbehave in many ways.
    static func host(
        _ classes: String..., flags: [String] = [], choice: UInt8 = 0, startLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(10)
    ) throws -> TestHost {
        let folder = try TestFolder()
        var library = try LoadingFixture.library(of: source, flags)
        let mark = Array("CHOICE: ".utf8)
        for place in library.indices where library[place...].starts(with: mark) { library[place + mark.count] = choice }
        try folder.write(library, as: "libUnruly.so")
        let managers = classes.map { #""\#($0)": {"className": "\#($0)"}"# }.joined(separator: ", ")
        return try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "Unruly"}], "managers": {\#(managers)}}"#,
            in: folder, startLimit: startLimit, stopLimit: stopLimit)
    }

    private static let source = #"""
        #include "backplane.h"
        #include <stddef.h>
        #include <string.h>
        #include <unistd.h>

        BP_IDENTITY("org.example.unruly", "1.0.0")

        __attribute__((used)) static volatile const struct { char mark[8]; uint8_t number; } choice = {"CHOICE: ", 0};

        static bp_get_interface get_interface;
        static uint64_t handle;
        static char instance;

        static bp_bytes text(const char *literal) {
            bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
            return bytes;
        }

        static void say(const char *message) {
            const bp_log_1 *log = get_interface(text(BP_LOG), 1);
            log->write(handle, BP_LOG_INFO, text(message), NULL, 0);
        }

        /* What is owed to somebody. */
        static struct { bp_done done; void *context; } owed;
        static struct { bp_created done; void *context; } creation_owed;

        static void answered(void *context, int32_t status, const bp_http_response *response, bp_bytes payload) {
            owed.done(owed.context, status, payload);
        }

        enum { TWICE, NEVER, LATER, SETTLE, SLOW, WITH_STATUS, NO_JSON, NO_ERROR, FETCH, HAS, MAKE, METHODS };
        static const bp_method methods[] = {
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("twice")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("never")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("later")},        /* answered by settle */
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("settle")},
            {sizeof(bp_method), BP_SYNC, BP_TEXT("slow")},          /* answered by settle, though it must not wait */
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("withStatus")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("noJSON")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("noError")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("fetch")},        /* a manager that uses backplane.http */
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("has")},          /* the interface of that name, revision 1 */
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("make")},         /* ends the creation of MadeLate */
        };

        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
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
            case WITH_STATUS: done(context, -77, text("")); return;
            case NO_JSON: done(context, BP_OK, text("}{\xff")); return;
            case NO_ERROR: done(context, BP_ERROR, text("no JSON")); return;
            case FETCH: {
                const bp_http_1 *http = get_interface(text(BP_HTTP), 1);
                bp_http_request request = {.size = sizeof request, .method = BP_TEXT("GET"), .url = BP_TEXT("file:manifest")};
                owed.done = done;
                owed.context = context;
                http->send(handle, &request, frame, answered, NULL);
                return;
            }
            case HAS: done(context, BP_OK, text(get_interface(input, 1) ? "true" : "false")); return;
            case MAKE:
                if (creation_owed.done) creation_owed.done(creation_owed.context, BP_OK, &instance, text(""));
                done(context, BP_OK, text("null"));
                return;
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
        static void create_nothing(void *type, const bp_creation *creation, bp_created done, void *context) {
            done(context, BP_OK, NULL, text(""));
        }
        static void create_late(void *type, const bp_creation *creation, bp_created done, void *context) {
            creation_owed.done = done;
            creation_owed.context = context;
        }
        static void create_blocking(void *type, const bp_creation *creation, bp_created done, void *context) { for (;;) pause(); }
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
        static void review_nonsense(void *type, bp_bytes configuration, bp_done done, void *context) { done(context, BP_OK, text("}{\xff")); }

        #define MANAGER(name) .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT(name), .version = BP_TEXT("1.0.0"), \
            .contract = BP_TEXT("Unruliness"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS, \
            .call = call, .release = release

        static bp_component components[] = {
            {MANAGER("Unruly"), .create = create},
            {MANAGER("MadeTwice"), .create = create_twice, .activate = twice, .stop = twice},
            {MANAGER("MadeOfNothing"), .create = create_nothing},
            {MANAGER("MadeLate"), .create = create_late},
            {MANAGER("NeverMade"), .create = create_never},
            {MANAGER("MadeForEver"), .create = create_blocking},
            {MANAGER("NeverActive"), .create = create_and_say, .activate = never},
            {MANAGER("NeverStopped"), .create = create, .stop = never},
        };
        static bp_field layout[] = BP_LAYOUT;
        /* Says the hash of the table as it is then. */
        #define REHASH own.self_check.layout_hash = bp_layout_hash(own.self_check.fields, own.self_check.field_count)

        int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
            bp_answer own = {
                .size = sizeof own, .abi = BP_ABI_MAX, .id = BP_TEXT("org.example.unruly"), .version = BP_TEXT("1.0.0"),
                .components = components, .component_count = sizeof components / sizeof *components,
                .self_check = bp_check_self()};
            own.self_check.fields = layout;
            get_interface = offer->get_interface;
        #ifdef SPOIL
            SPOIL;
        #endif
            *answer = own;
        #ifdef STATUS
            return STATUS;
        #endif
            return BP_OK;
        }
        """#
}
