/// A plugin in C that is compiled with headers of other versions: it names no field that they might lack.
enum OtherHeaderPlugin {
    /// To be put behind the header.
    static let source = #"""

        #include <string.h>

        BP_IDENTITY("org.example.far", "1.0.0")

        static bp_get_interface get_interface;

        static bp_bytes text(const char *literal) {
            bp_bytes bytes = {(const uint8_t *)literal, strlen(literal)};
            return bytes;
        }

        /* ------------------------------------------------------------------------------------ the store */

        static uint64_t store_handle;
        static char store_instance;

        static void create_store(void *type, const bp_creation *creation, bp_created done, void *context) {
            store_handle = creation->handle;
            done(context, BP_OK, &store_instance, text(""));
        }

        static struct { bp_done done; void *context; } waiting;

        static void read(void *context, int32_t status, const bp_record *records, size_t count, uint64_t total, bp_bytes payload) {
            char json[64] = "[";
            if (status != BP_OK || count != 2 || total != 2) {
                waiting.done(waiting.context, status ? status : BP_FAILED, payload);
                return;
            }
            /* Stepped through by the size of the first. */
            for (size_t i = 0; i < count; i++) {
                const bp_record *record = (const bp_record *)((const char *)records + i * records->size);
                if (i) strcat(json, ", ");
                strncat(json, (const char *)record->value.data, record->value.length);
            }
            waiting.done(waiting.context, BP_OK, text(strcat(json, "]")));
        }

        static void written(void *context, int32_t status, bp_bytes payload) {
            const bp_store_1 *store = get_interface(text(BP_STORE), 1);
            bp_store_query query = {.size = sizeof query, .collection = BP_TEXT("words"), .limit = 10};
            if (status == BP_OK) store->query(store_handle, &query, read, NULL);
            else waiting.done(waiting.context, status, payload);
        }

        static void call_store(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            const bp_store_1 *store = get_interface(text(BP_STORE), 1);
            bp_store_change changes[2] = {
                {.size = sizeof *changes, .kind = BP_STORE_SAVE, .collection = BP_TEXT("words"), .id = BP_TEXT("1"), .value = BP_TEXT("\"one\"")},
                {.size = sizeof *changes, .kind = BP_STORE_SAVE, .collection = BP_TEXT("words"), .id = BP_TEXT("2"), .value = BP_TEXT("\"two\"")}};
            waiting.done = done;
            waiting.context = context;
            store->write(store_handle, changes, 2, written, NULL);
        }

        /* ---------------------------------------------------------------------------------- the manager */

        static uint64_t handle, trials, store_wire;
        static char instance;

        static void create(void *type, const bp_creation *creation, bp_created done, void *context) {
            handle = creation->handle;
            for (size_t i = 0; i < creation->wire_count; i++) {
                const bp_connection *wire = (const bp_connection *)((const char *)creation->wires + i * creation->wires->size);
                if (wire->label.length == 6) trials = wire->wire;
                else store_wire = wire->wire;
            }
            done(context, BP_OK, &instance, text(""));
        }

        enum { PATH, KEEP };

        static void call(void *self, uint32_t method, bp_bytes input, const bp_call *frame, uint64_t id, bp_done done, void *context) {
            const bp_calls_1 *calls = get_interface(text(BP_CALLS), 1);
            const bp_log_1 *log = get_interface(text(BP_LOG), 1);
            log->write(handle, BP_LOG_INFO, text("was called"), NULL, 0);
            calls->call(handle, method == PATH ? trials : store_wire, 0, input, frame, done, context);
        }

        static const bp_method methods[] = {
            {.size = sizeof(bp_method), .kind = BP_ASYNC, .name = BP_TEXT("path")},
            {.size = sizeof(bp_method), .kind = BP_ASYNC, .name = BP_TEXT("keep")},
        };
        static const bp_method path[] = {{.size = sizeof(bp_method), .kind = BP_SYNC, .name = BP_TEXT("path")}};
        static const bp_method keep[] = {{.size = sizeof(bp_method), .kind = BP_ASYNC, .name = BP_TEXT("keep")}};
        static const bp_wire wires[] = {
            {.size = sizeof(bp_wire), .label = BP_TEXT("trials"), .contract = BP_TEXT("Trials"), .contract_version = BP_TEXT("2.0.0"),
             .methods = path, .method_count = 1},
            {.size = sizeof(bp_wire), .label = BP_TEXT("dataAccessController"), .contract = BP_TEXT("Keeping"), .contract_version = BP_TEXT("1.0.0"),
             .methods = keep, .method_count = 1},
        };
        static const bp_component components[] = {
            {.size = sizeof(bp_component), .role = BP_MANAGER, .class_name = BP_TEXT("FarManager"), .version = BP_TEXT("1.0.0"),
             .contract = BP_TEXT("Far"), .contract_version = BP_TEXT("1.0.0"), .methods = methods, .method_count = 2,
             .wires = wires, .wire_count = 2, .create = create, .call = call},
            {.size = sizeof(bp_component), .role = BP_DATA_ACCESS_CONTROLLER, .class_name = BP_TEXT("FarStore"), .version = BP_TEXT("1.0.0"),
             .contract = BP_TEXT("Keeping"), .contract_version = BP_TEXT("1.0.0"), .methods = keep, .method_count = 1,
             .create = create_store, .call = call_store},
        };

        int32_t backplane_plugin_entry_v1(const bp_offer *offer, bp_answer *answer) {
            bp_answer own = {
                .abi = bp_common_abi(offer->abi_min, offer->abi_max, BP_ABI_MIN, BP_ABI_MAX),
                .id = BP_TEXT("org.example.far"), .version = BP_TEXT("1.0.0"),
                .components = components, .component_count = 2, .self_check = bp_check_self()};
            if (own.abi == BP_NO_ABI) return BP_UNIMPLEMENTED;
            get_interface = offer->get_interface;
            own.size = answer->size < sizeof own ? answer->size : (uint32_t)sizeof own;
            memcpy(answer, &own, own.size);
            return BP_OK;
        }
        """#
}
