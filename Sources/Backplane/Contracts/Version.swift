/// The version of a contract, a component or a plugin: three numbers, compared in order.
public struct Version: Sendable, Hashable, Comparable {
    /// The three numbers, the most significant first.
    public let major, minor, patch: Int

    /// Creates a version from its numbers.
    public init(_ major: Int, _ minor: Int = 0, _ patch: Int = 0) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Parses one to three numbers separated by dots, each below 2^31; missing numbers are zero.
    ///
    /// Returns `nil` for anything else.
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

    /// Compares major, minor and patch numbers, in this order.
    public static func < (a: Version, b: Version) -> Bool {
        (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }

    /// Returns whether a contract of this version serves a consumer that was compiled with version `needed`.
    ///
    /// The major versions must be equal, and this version must not be lower (Semantic Versioning 2.0.0, rules 7 and 8).
    public func serves(_ needed: Version) -> Bool {
        major == needed.major && self >= needed
    }
}

extension Version: CustomStringConvertible {
    /// The three numbers, separated by dots: `1.2.0`.
    public var description: String { "\(major).\(minor).\(patch)" }
}

extension Version: ExpressibleByStringLiteral {
    /// Creates a version from a literal such as `"1.2.0"`.
    ///
    /// - Precondition: The literal is one to three numbers separated by dots.
    public init(stringLiteral text: String) {
        guard let version = Version(text) else { preconditionFailure("`\(text)` is not a version such as 1.2.0") }
        self = version
    }
}

extension Version: Codable {
    /// Decodes a string such as `"1.2.0"`.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a string that is not a version.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let version = Version(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "`\(text)` is not a version such as 1.2.0")
        }
        self = version
    }

    /// Encodes the version as a string of three numbers.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
