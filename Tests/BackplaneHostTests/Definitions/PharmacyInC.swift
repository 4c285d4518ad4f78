import TestFixtures

/// A communication controller in C that passes the calls of a contract on to a network service.
enum PharmacyInC {
    static let source = #"""
        #include "backplane.h"
        #include <string.h>

        BP_IDENTITY("org.example.pharmacyinc", "1.0.0")

        static bp_get_interface get_interface;
        static uint64_t handle, wire;
        static char instance;

        static bp_bytes text(const char *literal) {
            bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
            return bytes;
        }

        static const bp_method methods[] = {
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("search")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("rate")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("between")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("greeting")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("all")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("send")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("photo")}, {sizeof(bp_method), BP_ASYNC, BP_TEXT("icon")},
            {sizeof(bp_method), BP_ASYNC, BP_TEXT("forget")},
        };
        enum { METHODS = sizeof methods / sizeof *methods };
        static const bp_wire wires[] = {{
            .size = sizeof(bp_wire), .label = BP_TEXT("service"), .contract = BP_TEXT("Pharmacies"),
            .contract_version = BP_TEXT("1.2.0"), .methods = methods, .method_count = METHODS}};

        static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
            handle = creation->handle;
            wire = creation->wires[0].wire;
            done(context, BP_OK, &instance, text(""));
        }

        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
            calls->call(handle, wire, method, input, frame, done, context);
        }

        static const bp_component components[] = {{
            .size = sizeof(bp_component), .role = BP_COMMUNICATION_CONTROLLER, .class_name = BP_TEXT("PharmacyInC"),
            .version = BP_TEXT("1.0.0"), .contract = BP_TEXT("Pharmacies"), .contract_version = BP_TEXT("1.2.0"),
            .methods = methods, .method_count = METHODS, .wires = wires, .wire_count = 1, .create = create, .call = call}};

        int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
            bp_answer own = {
                .size = sizeof own, .abi = BP_ABI_MAX, .id = BP_TEXT("org.example.pharmacyinc"), .version = BP_TEXT("1.0.0"),
                .components = components, .component_count = 1, .self_check = bp_check_self()};
            get_interface = offer->get_interface;
            *answer = own;
            return BP_OK;
        }
        """#
}
