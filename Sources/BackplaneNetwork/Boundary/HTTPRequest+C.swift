package import Backplane
package import CBackplane

extension HTTPRequest {
    /// Lends the request for the duration of `use`, with its body if the body is in memory.
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
    fileprivate func sentText(_ what: @autoclosure () -> String) throws(BackplaneError) -> String {
        guard let text = String(validating: lent, as: UTF8.self) else {
            throw BackplaneError(.networkRefused, "\(what()) is not UTF-8; percent-encode other bytes")
        }
        return text
    }
}

extension HTTPResponse {
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

    package init(copying response: UnsafePointer<bp_http_response>) {
        let response: bp_http_response = read(response)
        self.init(
            status: Int(response.status), headers: HTTPHeaders(copying: response.headers, count: response.header_count),
            body: response.body.array)
    }
}

extension HTTPHeaders {
    package func withPairs<Result>(_ body: (UnsafeBufferPointer<bp_pair>) -> Result) -> Result {
        Pairs(fields.map { (key: $0.name, value: $0.value) }).withPairs(body)
    }

    package init(copying pairs: UnsafePointer<bp_pair>?, count: Int) {
        self = [:]
        for (name, value) in Pairs.copy(pairs, count: count) { add(name, value) }
    }
}

extension HTTPOptions {
    func withC<Result>(upload: String, download: String, _ use: (UnsafePointer<bp_http_options>) -> Result) -> Result {
        var flags: UInt32 = 0
        if isWhole { flags |= UInt32(BP_HTTP_WHOLE) }
        if refreshes { flags |= UInt32(BP_HTTP_REFRESH) }
        if decompresses { flags |= UInt32(BP_HTTP_DECOMPRESS) }
        if attempted != nil { flags |= UInt32(BP_HTTP_REPORT_ATTEMPTS) }
        return upload.withBytes { upload in
            download.withBytes { download in
                Pairs(named).withPairs { named in
                    var options = bp_http_options(
                        size: UInt32(MemoryLayout<bp_http_options>.size), flags: flags,
                        total_ns: totalTimeout.nanoseconds, head_ns: headTimeout.nanoseconds,
                        read_ns: readTimeout.nanoseconds, max_body: UInt64(clamping: maximumBodySize ?? 0),
                        upload: upload, download: download, named: named.baseAddress, named_count: named.count)
                    return use(&options)
                }
            }
        }
    }

    private var named: [(key: String, value: String)] {
        var named: [(key: String, value: String)] = []
        if let executor { named.append(("executor", executor)) }
        if let credential { named.append(("credential", credential)) }
        if let account { named.append(("account", account)) }
        if redirects > 0 { named.append(("redirects", String(redirects))) }
        if let retry { named.append(("retry", retry.text)) }
        if attempt > 1 { named.append(("attempt", String(attempt))) }
        if cache != .none { named.append(("cache", cache.text)) }
        for tag in cacheTags { named.append(("tag", tag)) }
        if let equalRequests { named.append(("equal", equalRequests.rawValue)) }
        if let endpoint { named.append(("endpoint", endpoint)) }
        if let usesMock { named.append(("mock", usesMock ? "on" : "off")) }
        return named
    }

    package init(copying options: bp_http_options) {
        self.init()
        totalTimeout = Duration(nanosecondsUnlessZero: options.total_ns)
        headTimeout = Duration(nanosecondsUnlessZero: options.head_ns)
        readTimeout = Duration(nanosecondsUnlessZero: options.read_ns)
        maximumBodySize = options.max_body == 0 ? nil : Int(clamping: options.max_body)
        decompresses = options.flags & UInt32(BP_HTTP_DECOMPRESS) != 0
        isWhole = options.flags & UInt32(BP_HTTP_WHOLE) != 0
        refreshes = options.flags & UInt32(BP_HTTP_REFRESH) != 0
    }

    var isPlain: Bool {
        totalTimeout == nil && headTimeout == nil && readTimeout == nil && maximumBodySize == nil && !decompresses
            && progress == nil && attempted == nil && executor == nil && redirects == 0
            && retry == nil && credential == nil && account == nil && interceptors.isEmpty && cache == .none
            && equalRequests == nil && usesMock == nil
    }
}

extension HTTPProgress {
    package func withC(_ use: (UnsafePointer<bp_http_progress>) -> Void) {
        var progress = bp_http_progress(
            size: UInt32(MemoryLayout<bp_http_progress>.size), reserved: 0, sent: sent, to_send: toSend ?? -1,
            received: received, to_receive: toReceive ?? -1)
        use(&progress)
    }

    init(copying progress: UnsafePointer<bp_http_progress>) {
        let progress: bp_http_progress = read(progress)
        self.init()
        (sent, received) = (progress.sent, progress.received)
        toSend = progress.to_send < 0 ? nil : progress.to_send
        toReceive = progress.to_receive < 0 ? nil : progress.to_receive
    }
}

extension Duration {
    fileprivate init?(nanosecondsUnlessZero nanoseconds: Int64) {
        if nanoseconds == 0 { return nil }
        self = .nanoseconds(nanoseconds)
    }
}

extension Duration? {
    /// The limit in nanoseconds; 0 for none, and one nanosecond for a limit that has passed.
    fileprivate var nanoseconds: Int64 { map { Swift.max(1, $0.nanoseconds) } ?? 0 }
}
