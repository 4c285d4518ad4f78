import BackplaneHost

/// A host's value as it travels through a control socket: JSON with keys and words that are spelled here, whatever the properties of the
/// value are called.
package protocol ControlForm: Codable, Sendable {
    associatedtype Value: Sendable
    var value: Value { get }
    init(_ value: Value)
}

extension Array where Element: ControlForm {
    package init(_ values: [Element.Value]) { self = values.map(Element.init) }

    package var values: [Element.Value] { map(\.value) }
}

/// An enum each of whose cases has a word of its own on a control socket.
protocol SpelledCase: CaseIterable {
    var word: String { get }
}

extension KeyedEncodingContainer {
    mutating func encode(_ value: some SpelledCase, forKey key: Key) throws { try encode(value.word, forKey: key) }

    /// Milliseconds.
    mutating func encode(milliseconds duration: Duration, forKey key: Key) throws { try encode(duration.milliseconds, forKey: key) }
}

extension KeyedDecodingContainer {
    func decode<Case: SpelledCase>(_: Case.Type = Case.self, wordForKey key: Key) throws -> Case {
        let word = try decode(String.self, forKey: key)
        guard let value = Case.allCases.first(where: { $0.word == word }) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "expected one of \(Case.allCases.map { "`\($0.word)`" }.joined(separator: ", ")), found `\(word)`")
        }
        return value
    }

    /// To the nanosecond, as a host measures; one that no clock counts is as long as there is.
    func decode(millisecondsForKey key: Key) throws -> Duration {
        .nanoseconds(Int64(exactly: (try decode(Double.self, forKey: key) * 1e6).rounded()) ?? .max)
    }
}
