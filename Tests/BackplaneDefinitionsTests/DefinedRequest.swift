import BackplaneExchange
import BackplaneNetwork
import Foundation

@testable import BackplaneDefinitions

/// A web service of one method, `m`, and the requests that its calls come to.
struct DefinedRequest {
    let service: WebService

    /// - Parameters:
    ///   - request: The value of `request` as JSON.
    ///   - key: The key of the method.
    init(
        _ request: String, as key: String = "m", baseURL: String = "https://example.org/v1", shared: HTTPHeaders = [:]
    ) throws {
        let text = #"{"\#(key)": {"request": \#(request)}}"#
        var client = HTTPClient([MemoryExecutor { _, _ in .init(HTTPResponse(status: 200)) }])
        client.defaults.headers = shared
        service = try WebService(named: "Test", baseURL: baseURL, definition: .data(Data(text.utf8)), client: client)
    }

    func made(_ arguments: (any Encodable & Sendable)?..., adding headers: HTTPHeaders = [:]) throws -> HTTPRequest {
        let prepared = try service.m.with(headers: headers).prepared(arguments)
        return try prepared.endpoint(Data.self).request(prepared.client.defaults)
    }
}

extension HTTPRequest {
    /// The body, which is in memory, as text.
    var text: String? { body.bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// The whole body as text, wherever it comes from.
    func wholeText() async throws -> String {
        String(decoding: try await body.open().collect(upTo: 1 << 20), as: UTF8.self)
    }
}
