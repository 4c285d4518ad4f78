#if Engines
import Crypto
import HTTPTypes
import Hummingbird

/// A strong entity tag: equal tags mean equal bytes (RFC 9110, section 8.8.3).
struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    /// The tag with its quotes, as it appears in headers.
    let description: String

    init(_ digest: SHA256.Digest) {
        let digits = digest.prefix(16).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }
        description = "\"\(digits.joined())\""
    }

    init(of bytes: some Sequence<UInt8>) {
        self.init(SHA256.hash(data: Array(bytes)))
    }

    /// Returns whether `If-None-Match` contains the tag or `*`, in the weak comparison of RFC 9110, section 13.1.2.
    func isKnown(to request: Request) -> Bool {
        request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.contains { entry in
            let tag = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == description || tag == "W/\(description)"
        }
    }

    /// Returns whether `If-Range` permits a partial response for this tag.
    ///
    /// A date never permits one, because the server sends no modification dates.
    func allowsRange(of request: Request) -> Bool {
        guard let condition = request.headers[.ifRange] else { return true }
        return condition == description
    }
}
#endif
