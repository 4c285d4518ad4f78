import Backplane
import CBackplane

/// A component's access to the host's store through its function table.
struct StoreExchange: Sendable {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    func write(_ changes: [RecordChange]) async throws(BackplaneError) {
        let functions = try functions()
        let answer = await withUnsafeContinuation { (continuation: UnsafeContinuation<EncodedAnswer, Never>) in
            let context = Unmanaged.passRetained(Waiting(continuation)).toOpaque()
            changes.withC { changes in
                functions.pointer.pointee.write(
                    services.handle, changes.baseAddress, changes.count,
                    { context, status, payload in
                        Waiting<EncodedAnswer>.take(context).resume(returning: EncodedAnswer(status, payload))
                    }, context)
            }
        }
        _ = try answer.get()
    }

    func read(_ query: RecordQuery) async throws(BackplaneError) -> RecordPage {
        let functions = try functions()
        let result = await withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<RecordPage, BackplaneError>, Never>) in
            let context = Unmanaged.passRetained(Waiting(continuation)).toOpaque()
            query.withC { query in
                functions.pointer.pointee.query(
                    services.handle, query,
                    { context, status, records, count, total, payload in
                        let waiting = Waiting<Result<RecordPage, BackplaneError>>.take(context)
                        do throws(BackplaneError) {
                            _ = try EncodedAnswer(status, payload).get()
                            let page = RecordPage(
                                records: try StoredRecord.copy(records, count: count), total: Int(clamping: total))
                            waiting.resume(returning: .success(page))
                        } catch {
                            waiting.resume(returning: .failure(error))
                        }
                    }, context)
            }
        }
        return try result.get()
    }

    private func functions() throws(BackplaneError) -> ConstantPointer<bp_store_1> {
        guard let table = services.host.table(BP_STORE, revision: 1, as: bp_store_1.self) else {
            throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_STORE)/1")
        }
        return table
    }
}

private final class Waiting<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, Never>

    init(_ continuation: UnsafeContinuation<Value, Never>) { self.continuation = continuation }

    static func take(_ context: UnsafeMutableRawPointer?) -> UnsafeContinuation<Value, Never> {
        Unmanaged<Waiting>.fromOpaque(context!).takeRetainedValue().continuation
    }
}
