package import Backplane
package import CBackplane

extension HTTPRequest {
    /// Lends the request for the duration of `use`, with its body if that is in memory.
    package func withC<Result>(_ use: (UnsafePointer<bp_http_request>) -> Result) -> Result {
        method.withBytes { method in
            url.withBytes { url in
                (body.bytes ?? []).withBytes { body in
                    headers.withPairs { headers in
                        var request = bp_http_request(
                            size: UInt32(MemoryLayout<bp_http_request>.size), reserved: 0, method: method, url: url,
                            headers: headers.baseAddress, header_count: headers.count, body: body)
                        return use(&request)
                    }
                }
            }
        }
    }

    /// Copies a borrowed request.
    ///
    /// - Throws: `network.refused` for text that is not UTF-8, which would be sent as something else.
    package init(copying request: UnsafePointer<bp_http_request>) throws(BackplaneError) {
        let request: bp_http_request = read(request)
        self.init(
            try request.method.sentText("the method"), try request.url.sentText("the URL"), body: request.body.array)
        let count = request.headers == nil ? 0 : max(0, request.header_count)
        for field in UnsafeBufferPointer(start: request.headers, count: count) {
            let name = try field.name.sentText("the name of a header field")
            headers.add(name, try field.value.sentText("the value of the header field \(name)"))
        }
    }
}

extension bp_bytes {
    /// Returns a copy of the bytes as text.
    ///
    /// - Parameter what: The name of the text in the error.
    /// - Throws: `network.refused` if they are not UTF-8.
    fileprivate func sentText(_ what: @autoclosure () -> String) throws(BackplaneError) -> String {
        guard let text = String(validating: lent, as: UTF8.self) else {
            throw BackplaneError(.networkRefused, "\(what()) is not UTF-8; percent-encode other bytes")
        }
        return text
    }
}

extension HTTPResponse {
    /// Lends the response for the duration of `use`.
    package func withC<Result>(_ use: (UnsafePointer<bp_http_response>) -> Result) -> Result {
        body.withBytes { body in
            headers.withPairs { headers in
                var response = bp_http_response(
                    size: UInt32(MemoryLayout<bp_http_response>.size), status: UInt32(clamping: status),
                    headers: headers.baseAddress, header_count: headers.count, body: body)
                return use(&response)
            }
        }
    }

    /// Copies a borrowed response.
    package init(copying response: UnsafePointer<bp_http_response>) {
        let response: bp_http_response = read(response)
        self.init(
            status: Int(response.status), headers: HTTPHeaders(copying: response.headers, count: response.header_count),
            body: response.body.array)
    }
}

extension HTTPHeaders {
    /// Lends the fields for the duration of `body`.
    package func withPairs<Result>(_ body: (UnsafeBufferPointer<bp_pair>) -> Result) -> Result {
        Pairs(fields.map { (key: $0.name, value: $0.value) }).withPairs(body)
    }

    /// Copies borrowed fields.
    package init(copying pairs: UnsafePointer<bp_pair>?, count: Int) {
        self = [:]
        for (name, value) in Pairs.copy(pairs, count: count) { add(name, value) }
    }
}
