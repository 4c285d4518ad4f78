import Backplane

@testable import BackplaneHost

/// A plugin in C whose manager is called as a till is, and hands every call on to one.
enum RelayPlugin {
    /// A folder with its library, `Relay`.
    static func folder() throws -> LoadingFixture.Folder {
        let folder = try LoadingFixture.Folder()
        try folder.write(library(), as: "libRelay.so")
        return folder
    }

    /// Its bytes, which other flags make other ones.
    static func library(_ flags: String...) throws -> [UInt8] { try LoadingFixture.library(of: source, flags) }

    static func manager(to till: String = "Till") -> ManifestValue { ["className": "Relay", "uses": ["till": .string(till)]] }

    private static let source = #"""
        #include "backplane.h"
        #include <string.h>

        BP_IDENTITY("org.example.relay", "1.0.0")

        static bp_get_interface get_interface;
        static uint64_t handle, wire;
        static char instance;

        static bp_bytes text(const char *literal) {
            bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
            return bytes;
        }

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
            .size = sizeof(bp_wire), .label = BP_TEXT("till"), .contract = BP_TEXT("Tills"), .contract_version = BP_TEXT("1.0.0"),
            .methods = methods, .method_count = METHODS}};

        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
            calls->call(handle, wire, method, input, frame, done, context);
        }

        static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
            handle = creation->handle;
            wire = creation->wires[0].wire;
            done(context, BP_OK, &instance, text(""));
        }

        static const bp_component components[] = {{
            .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("Relay"), .version = BP_TEXT("1.0.0"),
            .contract = BP_TEXT("Tills"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS,
            .wires = wires, .wire_count = 1, .create = create, .call = call}};

        int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
            bp_answer own = {
                .size = sizeof own, .abi = BP_ABI_MAX, .id = BP_TEXT("org.example.relay"), .version = BP_TEXT("1.0.0"),
                .components = components, .component_count = 1, .self_check = bp_check_self()};
            get_interface = offer->get_interface;
            *answer = own;
            return BP_OK;
        }
        """#
}
