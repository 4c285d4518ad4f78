import BackplaneHost

/// The JSON form of a host's value in the control protocol.
///
/// The form spells out its keys and words, so that they do not depend on the names of the value's properties.
package protocol ControlForm: Codable, Sendable {
    associatedtype Value: Sendable
    var value: Value { get }
    init(_ value: Value)
}

extension Array where Element: ControlForm {
    package init(_ values: [Element.Value]) { self = values.map(Element.init) }

    package var values: [Element.Value] { map(\.value) }
}

/// An enum whose cases are spelled as words in the control protocol.
protocol SpelledCase: CaseIterable {
    var word: String { get }
}

extension KeyedEncodingContainer {
    mutating func encode(_ value: some SpelledCase, forKey key: Key) throws { try encode(value.word, forKey: key) }

    /// Encodes a duration in milliseconds.
    mutating func encode(milliseconds duration: Duration, forKey key: Key) throws {
        try encode(duration.milliseconds, forKey: key)
    }
}

extension KeyedDecodingContainer {
    func decode<Case: SpelledCase>(_: Case.Type = Case.self, wordForKey key: Key) throws -> Case {
        let word = try decode(String.self, forKey: key)
        guard let value = Case.allCases.first(where: { $0.word == word }) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription:
                    "expected one of \(Case.allCases.map { "`\($0.word)`" }.joined(separator: ", ")), found `\(word)`")
        }
        return value
    }

    /// Decodes a duration from milliseconds, to the nanosecond; a duration that is out of range becomes the longest
    /// possible.
    func decode(millisecondsForKey key: Key) throws -> Duration {
        .nanoseconds(Int64(exactly: (try decode(Double.self, forKey: key) * 1e6).rounded()) ?? .max)
    }
}
