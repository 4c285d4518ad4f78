public import Backplane
public import FoundationEssentials

/// A value and where it came from: the network, or what was kept of an earlier answer.
public struct Sourced<Value: Codable & Sendable>: Sendable {
    public enum Source: Sendable, Equatable {
        case network
        /// The network failed; this was kept so long ago.
        case store(age: Duration)
    }
    public var value: Value
    public var source: Source

    public init(_ value: Value, from source: Source) {
        (self.value, self.source) = (value, source)
    }
}

extension Sourced: Equatable where Value: Equatable {}

/// A value with the moment it was kept, as a data access controller answers it.
public struct Kept<Value: Codable & Sendable>: Sendable, Codable {
    public var value: Value
    public var date: Date

    public init(_ value: Value, at date: Date = .now) {
        (self.value, self.date) = (value, date)
    }
}

extension Sourced {
    /// Asks the network first and falls back to what was kept.
    ///
    /// - Parameters:
    ///   - call: the call being served. Of the time that it has left the network gets three quarters, so that what was kept can
    ///     still be fetched when a server is slow.
    ///   - fetch: asks the network, with the call it is given.
    ///   - keep: hands what came to whoever keeps it. That it fails does not take the answer away: see `unkept`.
    ///   - kept: what was kept last, asked when `fetch` throws anything but a cancellation; `nil`: nothing.
    ///   - unkept: told why an answer was not kept, and why what was kept could not be read.
    /// - Throws: what `fetch` threw, when it was cancelled or nothing was kept.
    public static func networkFirst(
        _ call: Call, fetch: (Call) async throws -> Value, keep: (Value) async throws -> Void, kept: () async throws -> Kept<Value>?,
        unkept: (any Error) -> Void
    ) async throws -> Sourced {
        do {
            let value = try await fetch(call.timeLeft.map { call.within($0 * 3 / 4) } ?? call)
            do { try await keep(value) } catch { unkept(error) }
            return Sourced(value, from: .network)
        } catch let error where !error.isCancellation {
            let last: Kept<Value>?
            do { last = try await kept() } catch let second {
                unkept(second)
                throw error
            }
            guard let last else { throw error }
            return Sourced(last.value, from: .store(age: .clamping(seconds: Date.now.timeIntervalSince(last.date))))
        }
    }
}

extension Duration {
    /// An age in seconds that somebody else gave: a negative one is none, and one beyond a thousand million years is that.
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
    /// `{"value": …, "source": "network"}`, or `{"value": …, "source": "store", "age": seconds}`.
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

extension TextKey {
    fileprivate static let value = TextKey("value")
    fileprivate static let source = TextKey("source")
    fileprivate static let age = TextKey("age")
}
