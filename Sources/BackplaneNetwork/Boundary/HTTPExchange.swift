import Backplane
import CBackplane
import Synchronization

/// An HTTP exchange of a component whose bodies are in memory, through `backplane.http/1`.
struct HTTPExchange {
    private let services: ComponentServices

    init(_ services: ComponentServices) { self.services = services }

    func run(_ request: HTTPRequest, _ call: Call) async throws(BackplaneError) -> HTTPResponse {
        let request = try await request.inMemory()
        guard let table = services.host.table(BP_HTTP, revision: 1, as: bp_http_1.self) else {
            throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_HTTP)/1")
        }
        let component = services.handle
        let cancellation = Cancellation { table.pointer.pointee.cancel(component, $0) }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation {
                (continuation: UnsafeContinuation<Result<HTTPResponse, BackplaneError>, Never>) in
                let context = Unmanaged.passRetained(Waiting(continuation)).toOpaque()
                let id = request.withC { request in
                    call.withC { table.pointer.pointee.send(component, request, $0, ended, context) }
                }
                cancellation.began(id)
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }
}

private final class Waiting: Sendable {
    let continuation: UnsafeContinuation<Result<HTTPResponse, BackplaneError>, Never>
    init(_ continuation: UnsafeContinuation<Result<HTTPResponse, BackplaneError>, Never>) {
        self.continuation = continuation
    }
}

private let ended: bp_http_done = { context, status, response, payload in
    let waiting = Unmanaged<Waiting>.fromOpaque(context!).takeRetainedValue()
    do throws(BackplaneError) {
        _ = try EncodedAnswer(status, payload).get()
        guard let response else { throw BackplaneError(.networkFailed, "the host returned no response") }
        waiting.continuation.resume(returning: .success(HTTPResponse(copying: response)))
    } catch {
        waiting.continuation.resume(returning: .failure(error))
    }
}

extension HTTPRequest {
    /// Returns the request with its body in memory, and with the body's media type among its fields.
    fileprivate func inMemory() async throws(BackplaneError) -> HTTPRequest {
        var request = withMediaType
        guard body.bytes == nil else { return request }
        do {
            request.body = try await body.collected(upTo: HTTPOptions.collectionLimit)
            return request
        } catch let error as BackplaneError {
            throw error
        } catch is CancellationError {
            throw BackplaneError(.callCancelled, "the exchange was cancelled")
        } catch {
            throw BackplaneError(.networkBody, "the request's body failed: \(error)", at: printableURL)
        }
    }
}
