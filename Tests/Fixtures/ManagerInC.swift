/// The source of a plugin in C with one manager, which has one wire.
package enum ManagerInC {
    /// - Parameters:
    ///   - name: its class, and the last part of the plugin's id.
    ///   - contract: what it provides, in version 1.0.0.
    ///   - body: C that defines `methods`, `METHODS`, `wires` and the function `call`. It finds `text`,
    ///     `get_interface`, and the handles of its component and of its wire, `handle` and `wire`. It may define
    ///     `STEPS`, the initialisers of other functions.
    package static func source(_ name: String, contract: String, _ body: String) -> String {
        let id = "org.example.\(name.lowercased())"
        return #"""
            #include "backplane.h"
            #include <stdlib.h>
            #include <string.h>

            BP_IDENTITY("\#(id)", "1.0.0")

            static bp_get_interface get_interface;
            static uint64_t handle, wire;
            static char instance;

            static bp_bytes text(const char *literal) {
                bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
                return bytes;
            }

            \#(body)
            #ifndef STEPS
            #define STEPS
            #endif

            static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
                handle = creation->handle;
                wire = creation->wires[0].wire;
                done(context, BP_OK, &instance, text(""));
            }

            static const bp_component components[] = {{
                .size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("\#(name)"), .version = BP_TEXT("1.0.0"),
                .contract = BP_TEXT("\#(contract)"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = METHODS,
                .wires = wires, .wire_count = 1, .create = create, STEPS .call = call}};

            int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
                bp_answer own = {
                    .size = sizeof own, .abi = BP_ABI_MAX, .id = BP_TEXT("\#(id)"), .version = BP_TEXT("1.0.0"),
                    .components = components, .component_count = 1, .self_check = bp_check_self()};
                get_interface = offer->get_interface;
                *answer = own;
                return BP_OK;
            }
            """#
    }
}
