import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization

/// A reverse proxy with a shared cache, for the public tests of HTTP caches (docs/reference/caches.md).
///
///     cache-proxy PORT ORIGIN      answers on 127.0.0.1 for an origin such as http://127.0.0.1:8000, for ten minutes
@main
struct CacheProxy {
    private static let ofConnection: Set<String> = [
        "connection", "content-length", "host", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    static func main() async throws {
        let origin = CommandLine.arguments[2]
        let pipeline = HTTPPipeline([AsyncHTTPClientExecutor()], cache: ResponseCache(isShared: true))
        let server = try TestServer(port: UInt16(CommandLine.arguments[1])!) { received, connection in
            var request = HTTPRequest(received.method, origin + received.target, body: received.body)
            for (name, value) in received.fields where !ofConnection.contains(name.lowercased()) {
                request.headers.add(name, value)
            }
            let response = response(to: request, through: pipeline)
            var fields = response.headers.filter { !ofConnection.contains($0) }
            // A head alone says how long the body would be.
            let hasBody = received.method != "HEAD" && response.status != 204 && response.status != 304
            fields["Content-Length"] = hasBody ? "\(response.body.count)" : response.headers["Content-Length"]
            connection.sendHead("\(response.status) -", fields.fields.map { ($0.name, $0.value) })
            connection.send(response.body)
        }
        try await Task.sleep(for: .seconds(600))
        server.stop()
    }

    /// Returns the response of the pipeline, for which this thread waits; 502 if there is none.
    private static func response(to request: HTTPRequest, through pipeline: HTTPPipeline) -> HTTPResponse {
        let done = DispatchSemaphore(value: 0), result = Mutex(HTTPResponse(status: 502))
        Task {
            var options = HTTPOptions()
            options.cache = .http(in: .memory)
            options.cache.staleIfError = .seconds(86_400)
            do {
                let response = try await pipeline.send(request, options)
                result.withLock { $0 = response }
            } catch {
                FileHandle.standardError.write(Data("\(request.method) \(request.url): \(error)\n".utf8))
            }
            done.signal()
        }
        done.wait()
        return result.withLock(\.self)
    }
}
