import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures

@testable import BackplaneHost

/// A plugin in C whose manager is called as a counter is, and hands every call on to one.
enum RelayPlugin {
    /// A folder with its library, `Relay`.
    static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(library(), as: "libRelay.so")
        return folder
    }

    /// Its bytes, which other flags make other ones.
    static func library(_ flags: String...) throws -> [UInt8] { try LoadingFixture.library(of: source, flags) }

    static func manager(to counter: String = "Counter") -> ManifestValue {
        ["className": "Relay", "uses": ["counter": .string(counter)]]
    }

    private static let source = ManagerInC.source(
        "Relay", contract: "Counting",
        #"""
        static const bp_method methods[] = {
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("add")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("edition")},
            {sizeof(bp_method), BP_SYNC, BP_TEXT("sumNow")},
            {sizeof(bp_method), BP_SYNC, BP_TEXT("editionNow")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("act")},
            {sizeof(bp_method), BP_SYNC, BP_TEXT("actNow")},
        };
        enum { METHODS = sizeof methods / sizeof *methods };
        static const bp_wire wires[] = {{
            .size = sizeof(bp_wire), .label = BP_TEXT("counter"), .contract = BP_TEXT("Counting"), .contract_version = BP_TEXT("1.0.0"),
            .methods = methods, .method_count = METHODS}};

        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
            calls->call(handle, wire, method, input, frame, done, context);
        }
        """#)
}
