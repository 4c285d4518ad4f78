import BackplaneNetwork
import FoundationEssentials

extension PartOrigin {
    /// Creates the origin from the head of a complete response.
    init(_ request: HTTPRequest, _ headers: HTTPHeaders) {
        self.init(resource: Self.resource(request), validator: Self.strongValidator(headers), length: headers.length)
    }

    /// Returns the checksum of a request's URL without its fragment, which servers do not see.
    static func resource(_ request: HTTPRequest) -> UInt64 {
        PartSum.of(String(request.url.prefix { $0 != "#" }))
    }

    /// Returns the validator for `If-Range`, which must be strong (RFC 9110, section 13.1.5): a strong entity tag, or
    /// otherwise a date that is a second older than the response.
    static func strongValidator(_ headers: HTTPHeaders) -> String? {
        let tags = headers.values("ETag")
        if tags.count == 1, tags[0].isStrongTag { return tags[0] }
        guard tags.isEmpty, let modified = headers["Last-Modified"], let date = headers["Date"],
            let changed = Date(httpDate: modified), let sent = Date(httpDate: date),
            sent.timeIntervalSince(changed) >= 1
        else { return nil }
        return modified
    }

    /// Returns whether the head of a response belongs to a different version.
    func contradicts(_ headers: HTTPHeaders) -> Bool {
        guard let validator else { return false }
        let field = validator.isStrongTag ? "ETag" : "Last-Modified"
        return headers[field].map { $0 != validator } ?? false
    }
}

extension String {
    /// A Boolean value that indicates whether the text is a strong entity tag (RFC 9110, section 8.8.3) that fits into
    /// a record.
    fileprivate var isStrongTag: Bool {
        utf8.count >= 2 && utf8.count <= PartRecord.longestValidator && utf8.first == UInt8(ascii: "\"")
            && utf8.last == UInt8(ascii: "\"")
            && utf8.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
    }
}

extension HTTPHeaders {
    /// The announced length of the body.
    var length: Int64? { self["Content-Length"].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil } }
}
