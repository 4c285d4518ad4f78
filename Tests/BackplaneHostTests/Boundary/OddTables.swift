import Backplane
import CBackplane
import Synchronization

/// Function tables of hosts of another year. C functions capture nothing, so they stand here once for all tests.
enum OddTables {
    /// Tables that end before their last function.
    static let short: bp_get_interface = { id, _ in find(id, in: shortTables) }
    /// Tables with something behind the functions that the SDK knows, from a host whose other structs have grown too.
    static let long: bp_get_interface = { id, _ in find(id, in: longTables) }

    /// How many lines the long log has heard.
    static var linesHeard: Int { heard.load(ordering: .sequentiallyConsistent) }
    private static let heard = Atomic<Int>(0)

    private static func find(_ id: bp_bytes, in tables: [String: GuardedMemory]) -> UnsafeRawPointer? {
        tables[id.text].map { UnsafeRawPointer($0.start) }
    }

    private static let shortTables = tables { $0 - 8 }
    private static let longTables = tables { $0 + 40 }

    private static func tables(_ size: (Int) -> Int) -> [String: GuardedMemory] {
        [
            BP_LOG: GuardedMemory([log], size: size(MemoryLayout<bp_log_1>.size)),
            BP_HTTP: GuardedMemory([http], size: size(MemoryLayout<bp_http_1>.size)),
            BP_STORE: GuardedMemory([store], size: size(MemoryLayout<bp_store_1>.size)),
        ]
    }

    private static let log = bp_log_1(
        size: 0, reserved: 0, is_enabled: { _, _ in 1 },
        write: { _, _, _, _, _ in heard.wrappingAdd(1, ordering: .sequentiallyConsistent) })

    private static let http = bp_http_1(
        size: 0, reserved: 0,
        send: { _, _, _, done, context in
            let response = bp_http_response(size: 0, status: 204, headers: nil, header_count: 0, body: .empty)
            let lent = GuardedMemory([response], size: MemoryLayout<bp_http_response>.size + 24)
            withExtendedLifetime(lent) { done(context, Int32(BP_OK), lent.pointer(), .empty) }
            return 0
        },
        cancel: { _, _ in })

    private static let store = bp_store_1(
        size: 0, reserved: 0,
        write: { _, _, _, done, context in done(context, Int32(BP_OK), .empty) },
        query: { _, _, done, context in
            #"{"id": "a"}{"id": "b"}"#.withBytes { values in
                let records = [0, 11].map { start in
                    bp_record(
                        size: 0, reserved: 0, collection: .empty,
                        id: bp_bytes(data: values.data! + start + 8, length: 1),
                        value: bp_bytes(data: values.data! + start, length: 11))
                }
                let lent = GuardedMemory(records, size: MemoryLayout<bp_record>.size + 16)
                withExtendedLifetime(lent) { done(context, Int32(BP_OK), lent.pointer(), 2, 2, .empty) }
            }
        })
}
