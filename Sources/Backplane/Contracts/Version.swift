/// The version of a contract, a component or a plugin: three numbers, compared in order.
public struct Version: Sendable, Hashable, Comparable {
    public let major, minor, patch: Int

    public init(_ major: Int, _ minor: Int = 0, _ patch: Int = 0) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Reads one to three numbers with dots between them, each below 2^31; missing ones are zero. `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        var numbers = (0, 0, 0), part = 0, hasDigits = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                numbers.2 = numbers.2 * 10 + Int(byte - UInt8(ascii: "0"))
                guard numbers.2 <= Int32.max else { return nil }
                hasDigits = true
            case UInt8(ascii: "."):
                guard hasDigits, part < 2 else { return nil }
                (numbers, part, hasDigits) = ((numbers.1, numbers.2, 0), part + 1, false)
            default: return nil
            }
        }
        guard hasDigits else { return nil }
        for _ in part..<2 { numbers = (numbers.1, numbers.2, 0) }
        self.init(numbers.0, numbers.1, numbers.2)
    }

    public static func < (a: Version, b: Version) -> Bool {
        (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }

    /// Whether a contract of this version serves a user that was compiled with version `needed`: the same major version,
    /// and at least that one (Semantic Versioning 2.0.0, rules 7 and 8).
    public func serves(_ needed: Version) -> Bool {
        major == needed.major && self >= needed
    }
}

extension Version: CustomStringConvertible {
    public var description: String { "\(major).\(minor).\(patch)" }
}

extension Version: ExpressibleByStringLiteral {
    /// - Precondition: the literal is one to three numbers with dots between them.
    public init(stringLiteral text: String) {
        guard let version = Version(text) else { preconditionFailure("`\(text)` is not a version such as 1.2.0") }
        self = version
    }
}

extension Version: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let version = Version(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "`\(text)` is not a version such as 1.2.0")
        }
        self = version
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
