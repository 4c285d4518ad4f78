#if Engines
import Crypto
import HTTPTypes
import Hummingbird

/// A strong entity tag: equal tags mean equal bytes (RFC 9110, 8.8.3).
struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    /// With its quotes, as headers carry it.
    let description: String

    init(_ digest: SHA256.Digest) {
        let digits = digest.prefix(16).map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }
        description = "\"\(digits.joined())\""
    }

    init(of bytes: some Sequence<UInt8>) {
        self.init(SHA256.hash(data: Array(bytes)))
    }

    /// Whether `If-None-Match` names it, or anything. The comparison is the weak one, as RFC 9110, 13.1.2 asks.
    func isKnown(to request: Request) -> Bool {
        request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.contains { entry in
            let tag = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == description || tag == "W/\(description)"
        }
    }

    /// Whether a range may be taken from what this tag stands for. A date never says so, since nothing here has one.
    func allowsRange(of request: Request) -> Bool {
        guard let condition = request.headers[.ifRange] else { return true }
        return condition == description
    }
}
#endif
