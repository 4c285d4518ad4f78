public import FoundationEssentials

/// A value and its source: the network, or a stored copy of an earlier answer.
public struct Sourced<Value: Codable & Sendable>: Sendable {
    /// The origin of a value.
    public enum Source: Sendable, Equatable {
        /// The network: the value is current.
        case network
        /// The store, because the network failed, with the time since the value was stored.
        case store(age: Duration)
    }
    /// The value that the network or the store returned.
    public var value: Value
    /// The origin of ``value``.
    public var source: Source

    /// Creates a value with its source.
    public init(_ value: Value, from source: Source) {
        (self.value, self.source) = (value, source)
    }
}

extension Sourced: Equatable where Value: Equatable {}

/// A value and the date at which it was stored, as a data access controller returns it.
public struct Kept<Value: Codable & Sendable>: Sendable {
    /// The stored value.
    public var value: Value
    /// The date at which the value was stored.
    public var date: Date

    /// Creates a stored value.
    public init(_ value: Value, at date: Date = .now) {
        (self.value, self.date) = (value, date)
    }
}

extension Sourced {
    /// Requests a value from the network, and falls back to the stored value.
    ///
    /// - Parameters:
    ///   - call: The call being served. The network request is limited to three quarters of the remaining time, so that
    ///     the stored value can still be fetched if the server is slow.
    ///   - log: The component's log, which receives the network's error when the stored value is returned, and errors
    ///     of the store that do not fail the call.
    ///   - fetch: A function that requests the value from the network, with the call that it receives.
    ///   - keep: A function that stores the fetched value. If it fails, the value is returned nevertheless.
    ///   - kept: A function that returns the stored value, or `nil` if there is none. It is called if `fetch` throws
    ///     any error other than a cancellation.
    /// - Throws: The error of `fetch`, if it was cancelled or there is no stored value.
    public static func networkFirst(
        _ call: Call, log: Log, fetch: (Call) async throws -> Value, keep: (Value) async throws -> Void,
        kept: () async throws -> Kept<Value>?
    ) async throws -> Sourced {
        do {
            let value = try await fetch(call.timeLeft.map { call.within($0 * 3 / 4) } ?? call)
            do { try await keep(value) } catch {
                log.warning("the value of the network was not stored", metadata: ["error": "\(error)"], for: call)
            }
            return Sourced(value, from: .network)
        } catch let error where !error.isCancellation {
            let last: Kept<Value>?
            do { last = try await kept() } catch let second {
                log.warning("the stored value could not be read", metadata: ["error": "\(second)"], for: call)
                throw error
            }
            guard let last else { throw error }
            let age = Duration.clamping(seconds: Date.now.timeIntervalSince(last.date))
            log.warning(
                "the network failed, and the stored value is returned",
                metadata: ["error": "\(error)", "age": "\(age)"], for: call)
            return Sourced(last.value, from: .store(age: age))
        }
    }
}

extension Duration {
    /// Returns a duration in seconds from an untrusted source, clamped to the range from 0 to a thousand million years.
    fileprivate static func clamping(seconds: Double) -> Duration {
        .seconds(seconds > 0 ? min(seconds, 3e16) : 0)
    }
}

extension Error {
    fileprivate var isCancellation: Bool {
        self is CancellationError || (self as? BackplaneError)?.code == .callCancelled
    }
}

extension Sourced: Codable {
    /// Decodes `{"value": …, "source": "network"}` or `{"value": …, "source": "store", "age": seconds}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        value = try container.decode(Value.self, forKey: .value)
        switch try container.decode(String.self, forKey: .source) {
        case "network": source = .network
        case "store": source = .store(age: .clamping(seconds: try container.decode(Double.self, forKey: .age)))
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .source, in: container, debugDescription: "expected `network` or `store`, found `\(other)`")
        }
    }

    /// Encodes `{"value": …, "source": "network"}` or `{"value": …, "source": "store", "age": seconds}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(value, forKey: .value)
        switch source {
        case .network:
            try container.encode("network", forKey: .source)
        case .store(let age):
            try container.encode("store", forKey: .source)
            try container.encode(age / .seconds(1), forKey: .age)
        }
    }
}

extension Kept: Codable {
    /// Decodes `{"value": …, "date": …}`, with the date in the decoder's own form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        value = try container.decode(Value.self, forKey: .value)
        date = try container.decode(Date.self, forKey: .date)
    }

    /// Encodes `{"value": …, "date": …}`, with the date in the encoder's own form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(value, forKey: .value)
        try container.encode(date, forKey: .date)
    }
}

extension TextKey {
    fileprivate static let value = TextKey("value")
    fileprivate static let source = TextKey("source")
    fileprivate static let age = TextKey("age")
    fileprivate static let date = TextKey("date")
}
