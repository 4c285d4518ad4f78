import Backplane
import CBackplane

/// A component's sign-ins through the functions of `backplane.http/2`, which older hosts do not offer.
struct AccountExchange {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    func signIn(
        _ credential: String, as account: String, with values: [String: String], _ call: Call
    ) async throws(BackplaneError) -> UInt64 {
        guard let table, let signIn = table.pointer.pointee.sign_in else { throw .olderHost }
        guard !Task.isCancelled else { throw BackplaneError(.callCancelled, "the task was cancelled") }
        let component = services.handle
        let cancellation = Cancellation { table.pointer.pointee.cancel(component, $0) }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation {
                (continuation: UnsafeContinuation<Result<UInt64, BackplaneError>, Never>) in
                let context = Unmanaged.passRetained(Waiting(continuation)).toOpaque()
                cancellation.began(
                    credential.withBytes { credential in
                        account.withBytes { account in
                            Pairs(values.map { (key: $0.key, value: $0.value) }).withPairs { values in
                                call.withC { call in
                                    signIn(
                                        component, credential, account, values.baseAddress, values.count, call,
                                        signedIn, context)
                                }
                            }
                        }
                    })
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    func signOut(_ credential: String, account: String) throws(BackplaneError) {
        guard let table, let signOut = table.pointer.pointee.sign_out else { throw .olderHost }
        let answer = Answer()
        credential.withBytes { credential in
            account.withBytes { account in
                signOut(
                    services.handle, credential, account,
                    { context, status, payload in
                        Unmanaged<Answer>.fromOpaque(context!).takeUnretainedValue().error = Answer.error(
                            status, payload)
                    }, Unmanaged.passUnretained(answer).toOpaque())
            }
        }
        if let error = answer.error { throw error }
    }

    private var table: ConstantPointer<bp_http_2>? {
        services.host.table(
            BP_HTTP, revision: 2, as: bp_http_2.self, first: MemoryLayout<bp_http_2>.offset(of: \.sign_in)!)
    }
}

/// The answer to a function that answers before it returns.
private final class Answer {
    var error: BackplaneError?

    static func error(_ status: Int32, _ payload: bp_bytes) -> BackplaneError? {
        do throws(BackplaneError) {
            _ = try EncodedAnswer(status, payload).get()
            return nil
        } catch {
            return error
        }
    }
}

private final class Waiting: Sendable {
    let continuation: UnsafeContinuation<Result<UInt64, BackplaneError>, Never>
    init(_ continuation: UnsafeContinuation<Result<UInt64, BackplaneError>, Never>) { self.continuation = continuation }
}

private let signedIn: bp_done = { context, status, payload in
    let waiting = Unmanaged<Waiting>.fromOpaque(context!).takeRetainedValue()
    do throws(BackplaneError) {
        let digits = String(decoding: try EncodedAnswer(status, payload).get(), as: UTF8.self)
        guard let principal = UInt64(digits) else {
            throw BackplaneError(.networkSignIn, "the host returned no principal for the account")
        }
        waiting.continuation.resume(returning: .success(principal))
    } catch {
        waiting.continuation.resume(returning: .failure(error))
    }
}

extension BackplaneError {
    fileprivate static var olderHost: BackplaneError {
        BackplaneError(.interfaceMissing, "this host is older than the plugin's SDK and does not support credentials")
    }
}
