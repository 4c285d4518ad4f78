import Backplane
import BackplaneBoundary
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Answers that lead back into the component before `done` has returned, on its own thread.
@Suite(.timeLimit(.minutes(5)))
struct ReentryTests {
    /// Answers at once, with how deep in calls of its own it is. Its steps answer with a payload that is nothing.
    private static let deep = ManagerInC.source(
        "Deep", contract: "Deep",
        #"""
        enum { METHODS = 1 };
        static const bp_method methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("depth")}};
        static const bp_wire wires[] = {{
            .size = sizeof(bp_wire), .label = BP_TEXT("trials"), .contract = BP_TEXT("Trials"), .contract_version = BP_TEXT("2.0.0")}};

        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            static _Thread_local int depth;
            char digit[] = {(char)('0' + ++depth), 0};
            done(context, BP_OK, text(digit));
            depth--;
        }
        static void answer_with_words(void *self, bp_done done, void *context) {
            done(context, BP_OK, text("neither null nor JSON\xff"));
        }
        #define STEPS .activate = answer_with_words, .suspend = answer_with_words, .health = answer_with_words,
        """#)

    /// Calls the other one again from the callback of its answer, and answers with the last answer.
    private static let caller = ManagerInC.source(
        "Again", contract: "Again",
        #"""
        enum { METHODS = 1 };
        static const bp_method methods[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("again")}};
        static const bp_method needed[] = {{sizeof(bp_method), BP_ASYNC, BP_TEXT("depth")}};
        static const bp_wire wires[] = {{
            .size = sizeof(bp_wire), .label = BP_TEXT("deep"), .contract = BP_TEXT("Deep"), .contract_version = BP_TEXT("1.0.0"),
            .methods = needed, .method_count = 1}};

        typedef struct { bp_done done; void *context; bp_call frame; int left; } asker;
        static void answered(void *context, int32_t status, bp_bytes payload) {
            asker *own = context;
            if (status == BP_OK && --own->left > 0) {
                const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
                calls->call(handle, wire, 0, text("null"), &own->frame, answered, own);
                return;
            }
            own->done(own->context, status, payload);
            free(own);
        }
        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
            asker *own = malloc(sizeof *own);
            *own = (asker){done, context, *frame, 5};
            calls->call(handle, wire, 0, text("null"), &own->frame, answered, own);
        }
        """#)

    @Test func `done may call the component again before it returns, and the payload of a step is ignored`()
        async throws
    {
        let folder = try TestFolder()
        try folder.write(LoadingFixture.library(of: Self.deep, []), as: "libDeep.so")
        try folder.write(LoadingFixture.library(of: Self.caller, []), as: "libAgain.so")
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "Deep"}, {"library": "Again"}],
             "managers": {"Trials": {"className": "TrialManager"}, "Deep": {"className": "Deep", "uses": {"trials": "Trials"}},
                          "Again": {"className": "Again", "uses": {"deep": "Deep"}}}}
            """#,
            pluginPaths: [TestHost.libraries], in: folder)
        #expect(try await test.call("Deep", "depth") == "1")
        #expect(try await test.call("Again", "again") == "5", "each call came inside the answer of the one before")
        let deep = try await test.host.coordinator.running("Deep")
        try await deep.instance.checkHealth { _ in }
        await test.host.stop()
        #expect(test.log.records.allSatisfy { $0.level < .warning })
    }
}
