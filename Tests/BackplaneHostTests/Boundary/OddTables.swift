import Backplane
import CBackplane
import Synchronization

/// Function tables of hosts of another year. C functions capture nothing, so they stand here once for all tests.
enum OddTables {
    /// Tables that end before their last function.
    static let short: bp_get_interface = { id, _ in find(id, in: shortTables) }
    /// Tables that end where they did when they were first released.
    static let first: bp_get_interface = { id, _ in find(id, in: firstTables) }
    /// Tables with something behind the functions that the SDK knows, from a host whose other structs have grown too.
    static let long: bp_get_interface = { id, _ in find(id, in: longTables) }

    /// The lines that the logs have heard: `write`, or the id of the call's trace, and the metadata.
    static var linesHeard: [String] { heard.withLock { $0 } }
    private static let heard = Mutex<[String]>([])

    private static func hear(_ trace: String, _ metadata: UnsafePointer<bp_pair>?, _ count: Int) {
        let pairs = Pairs.copy(metadata, count: count).map { "\($0.name)=\($0.value)" }
        heard.withLock { $0.append(([trace] + pairs).joined(separator: " ")) }
    }

    private static func find(_ id: bp_bytes, in tables: [String: GuardedMemory]) -> UnsafeRawPointer? {
        tables[id.text].map { UnsafeRawPointer($0.start) }
    }

    private static let firstTables = [
        BP_LOG: GuardedMemory([log], size: MemoryLayout<bp_log_1>.offset(of: \.write_for_call)!),
        BP_STORE: GuardedMemory([store], size: MemoryLayout<bp_store_2>.offset(of: \.search)!),
    ]
    private static let shortTables = tables { $0 - 16 }.merging([
        BP_STORE: GuardedMemory([store], size: MemoryLayout<bp_store_2>.offset(of: \.cancel)!)
    ]) { $1 }
    private static let longTables = tables { $0 + 40 }

    private static func tables(_ size: (Int) -> Int) -> [String: GuardedMemory] {
        [
            BP_LOG: GuardedMemory([log], size: size(MemoryLayout<bp_log_1>.size)),
            BP_HTTP: GuardedMemory([http], size: size(MemoryLayout<bp_http_1>.size)),
            BP_STORE: GuardedMemory([store], size: size(MemoryLayout<bp_store_2>.size)),
        ]
    }

    private static let log = bp_log_1(
        size: 0, reserved: 0, is_enabled: { _, _ in 1 },
        write: { _, _, _, metadata, count in hear("write", metadata, count) },
        write_for_call: { _, frame, _, _, metadata, count in
            hear(Call(copying: frame).trace?.id ?? "no trace", metadata, count)
        })

    private static let http = bp_http_1(
        size: 0, reserved: 0,
        send: { _, _, _, done, context in
            let response = bp_http_response(size: 0, status: 204, headers: nil, header_count: 0, body: .empty)
            let lent = GuardedMemory([response], size: MemoryLayout<bp_http_response>.size + 24)
            withExtendedLifetime(lent) { done(context, Int32(BP_OK), lent.pointer(), .empty) }
            return 0
        },
        cancel: { _, _ in })

    private static let store = bp_store_2(
        size: 0, reserved: 0,
        define: { _, _, _, done, context in
            done(context, Int32(BP_OK), .empty)
            return 0
        },
        write: { _, _, _, done, context in
            done(context, Int32(BP_OK), nil, 0, .empty)
            return 0
        },
        read: { _, _, _, done, context in
            #"{"id": "a"}{"id": "b"}"#.withBytes { values in
                let records = [0, 11].map { start in
                    bp_store_record(
                        size: 0, reserved: 0, id: bp_bytes(data: values.data! + start + 8, length: 1),
                        value: bp_bytes(data: values.data! + start, length: 11), version: 1)
                }
                let lent = GuardedMemory(records, size: MemoryLayout<bp_store_record>.size + 16)
                var page = bp_store_page()
                page.records = UnsafePointer(lent.pointer())
                page.record_count = 2
                let whole = GuardedMemory([page], size: MemoryLayout<bp_store_page>.size + 32)
                withExtendedLifetime((lent, whole)) { done(context, Int32(BP_OK), whole.pointer(), .empty) }
            }
            return 0
        },
        count: { _, _, _, done, context in
            "2".withBytes { done(context, Int32(BP_OK), $0) }
            return 0
        },
        changes: { _, _, _, _, _, done, context in
            done(context, Int32(BP_OK), nil, .empty)
            return 0
        },
        cancel: { _, _ in },
        search: { _, _, _, done, context in
            done(context, Int32(BP_OK), nil, .empty)
            return 0
        },
        wait: { _, _, _, _, done, context in
            done(context, Int32(BP_OK), .empty)
            return 0
        })
}
