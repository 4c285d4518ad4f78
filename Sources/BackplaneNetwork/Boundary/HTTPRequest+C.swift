import Backplane
package import CBackplane

extension HTTPRequest {
    /// Lends the request for the duration of `use`, with a body that is in memory, and otherwise without one.
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
    package init(copying request: UnsafePointer<bp_http_request>) {
        let request: bp_http_request = read(request)
        self.init(
            request.method.text, request.url.text,
            headers: HTTPHeaders(copying: request.headers, count: request.header_count), body: request.body.array)
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
