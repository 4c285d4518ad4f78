/// The time for which calls wait at the gates of a swap for those in flight, and the policy for calls that take longer.
///
/// ```swift
/// SwapOptions(drain: .upTo(.milliseconds(200), then: .later))
/// ```
public struct DrainPolicy: Sendable, Hashable {
    /// The policy for calls that outlast a swap's drain.
    public enum Fallback: Sendable, Hashable {
        /// The swap fails, and the error names the calls.
        case fail
        /// The calls are cancelled, and have the same time again to end before the swap fails.
        ///
        /// A native call runs in its caller's task, which is permanently cancelled.
        case cancel
        /// The old code serves callers again, and the drain is repeated once the calls have ended.
        ///
        /// The swap fails when the attempts or the time are used up, or when another change is requested or one of its
        /// components must start in the meantime.
        case retry(attempts: Int, within: Duration)

        /// The default policy: up to 100 retries within ten minutes.
        public static let later = retry(attempts: 100, within: .seconds(600))
    }
    /// The time limit for calls in flight to end.
    public var limit: Duration
    /// The policy for calls that have not ended by then.
    public var fallback: Fallback

    /// Returns a policy that waits for a time, and then applies a fallback to the remaining calls.
    ///
    /// - Parameters:
    ///   - limit: The time limit for calls in flight to end, during which new calls wait.
    ///   - fallback: The policy for calls that do not end in time.
    public static func upTo(_ limit: Duration, then fallback: Fallback) -> Self {
        DrainPolicy(limit: limit, fallback: fallback)
    }

    /// The default policy of a host: 200 ms, and then ``Fallback/later``.
    public static let standard = upTo(.milliseconds(200), then: .later)
}

/// The words for the policy for calls that outlast a drain, used in manifests, requests and commands.
package enum LongCalls: String, Sendable, Hashable, CaseIterable, Codable {
    case later, cancel, fail
}

extension DrainPolicy {
    /// Creates a policy from its words.
    ///
    /// Values that are `nil` are those of ``standard``; `retries` and `retryFor`, in seconds, belong to `later`.
    package init(
        limit: Duration? = nil, longCalls: LongCalls? = nil, retries: Int? = nil, retryFor: Duration? = nil
    ) {
        self = .standard
        if let limit { self.limit = limit }
        switch longCalls ?? .later {
        case .fail: fallback = .fail
        case .cancel: fallback = .cancel
        case .later:
            guard case .retry(let attempts, let time) = fallback else { return }
            fallback = .retry(attempts: retries ?? attempts, within: retryFor ?? time)
        }
    }

    /// The word for the policy for calls that take longer.
    package var longCalls: LongCalls {
        switch fallback {
        case .fail: .fail
        case .cancel: .cancel
        case .retry: .later
        }
    }

    /// The maximum number of retries and the time for them; `nil` if there are none.
    package var retries: (attempts: Int, time: Duration)? {
        if case .retry(let attempts, let time) = fallback { (attempts, time) } else { nil }
    }
}

extension DrainPolicy: Codable {
    private enum CodingKeys: CodingKey { case limit, longCalls, retries, retryFor }

    /// Decodes a policy in the words of a manifest; those that are missing have the values of ``standard``.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a number of retries that is out of range.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let retries = try container.decodeIfPresent(Int.self, forKey: .retries)
        if let retries, !(1...1_000_000).contains(retries) {
            throw DecodingError.dataCorruptedError(
                forKey: .retries, in: container,
                debugDescription: "expected a number from 1 to 1000000, found \(retries)")
        }
        self.init(
            limit: try container.decodeIfPresent(Duration.self, forKey: .limit),
            longCalls: try container.decodeIfPresent(LongCalls.self, forKey: .longCalls), retries: retries,
            retryFor: try container.decodeIfPresent(Duration.self, forKey: .retryFor))
    }

    /// Encodes the words of a manifest.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(limit, forKey: .limit)
        try container.encode(longCalls, forKey: .longCalls)
        try container.encodeIfPresent(retries?.attempts, forKey: .retries)
        try container.encodeIfPresent(retries?.time, forKey: .retryFor)
    }
}
