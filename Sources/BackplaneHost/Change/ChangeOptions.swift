import Backplane

/// The limits and conditions of a change.
public struct ChangeOptions: Codable, Sendable, Hashable {
    /// The test that the new generation must pass before the old one is retired, or `nil` for none.
    public var probation: Probation?
    /// The time limit for calls in flight and graphs of operations to end, and the policy if they do not end in time.
    ///
    /// `nil` means the policy of the manifest, or else ``DrainPolicy/standard``.
    public var drain: DrainPolicy?
    /// The time limit for each step of each component.
    public var stepLimit: Duration
    /// A Boolean value that indicates whether the change continues if state cannot be carried over.
    ///
    /// The new code then starts without it.
    public var discardsState: Bool
    /// A Boolean value that indicates whether new libraries are loaded without a trial in a child process.
    public var trustsLibraries: Bool
    /// A Boolean value that indicates whether the new code may lack methods that callers of the active code use.
    ///
    /// Calls of such methods then fail with `call.unimplemented`.
    public var allowsMissingMethods: Bool
    /// A Boolean value that indicates whether state crosses as JSON even if it could cross as a Swift value.
    public var encodesState: Bool

    /// Creates the limits and conditions of one change.
    ///
    /// By default, there is no probation, long calls are subject to the manifest's policy, a step may take 10 s, each
    /// library is tried, and a change that loses state or methods is refused.
    public init(
        probation: Probation? = nil, drain: DrainPolicy? = nil,
        stepLimit: Duration = .seconds(10), discardsState: Bool = false, trustsLibraries: Bool = false,
        allowsMissingMethods: Bool = false, encodesState: Bool = false
    ) {
        (self.probation, self.drain, self.stepLimit) = (probation, drain, stepLimit)
        (self.discardsState, self.trustsLibraries) = (discardsState, trustsLibraries)
        (self.allowsMissingMethods, self.encodesState) = (allowsMissingMethods, encodesState)
    }

    /// Decodes options; missing ones have the values of `ChangeOptions()`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func flag(_ key: CodingKeys) throws -> Bool { try container.decodeIfPresent(Bool.self, forKey: key) ?? false }
        self.init(
            probation: try container.decodeIfPresent(Probation.self, forKey: .probation),
            drain: try container.decodeIfPresent(DrainPolicy.self, forKey: .drain),
            stepLimit: try container.decodeIfPresent(Duration.self, forKey: .stepLimit) ?? ChangeOptions().stepLimit,
            discardsState: try flag(.discardsState), trustsLibraries: try flag(.trustsLibraries),
            allowsMissingMethods: try flag(.allowsMissingMethods), encodesState: try flag(.encodesState))
    }
}

/// A period during which the old generation is kept and restored automatically if the new one fails.
///
/// It ends early when another change is requested: the new generation then remains active.
public struct Probation: Codable, Sendable, Hashable {
    /// The length of the probation.
    public var duration: Duration
    /// The fraction of completed calls that may fail, from 0 to 1.
    public var errorRate: Double
    /// The number of completed calls below which the error rate is not evaluated.
    public var minimumCalls: Int
    /// The interval between health checks of a component.
    public var healthInterval: Duration

    /// Creates a probation, which by default allows a tenth of at least 10 calls to fail and checks health every
    /// second.
    public init(
        duration: Duration, errorRate: Double = 0.1, minimumCalls: Int = 10, healthInterval: Duration = .seconds(1)
    ) {
        (self.duration, self.errorRate, self.minimumCalls, self.healthInterval) = (
            duration, errorRate, minimumCalls, healthInterval
        )
    }

    /// Decodes a probation; missing values have their defaults, but the duration is required.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for an error rate that is not a fraction, or an interval of zero.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(duration: try container.decode(Duration.self, forKey: .duration))
        if let rate = try container.decodeIfPresent(Double.self, forKey: .errorRate) {
            guard (0...1).contains(rate) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .errorRate, in: container,
                    debugDescription: "expected a fraction from 0 to 1, found \(rate)")
            }
            errorRate = rate
        }
        if let calls = try container.decodeIfPresent(Int.self, forKey: .minimumCalls) { minimumCalls = calls }
        if let interval = try container.decodeIfPresent(Duration.self, forKey: .healthInterval) {
            guard interval > .zero else {
                throw DecodingError.dataCorruptedError(
                    forKey: .healthInterval, in: container, debugDescription: "expected a time above 0")
            }
            healthInterval = interval
        }
    }
}

/// The time for which a change waits for calls in flight, and the policy for calls that take longer.
///
/// ```swift
/// ChangeOptions(drain: .upTo(.milliseconds(200), then: .later))
/// ```
public struct DrainPolicy: Sendable, Hashable {
    /// The policy for calls that outlast a change's drain.
    public enum Fallback: Sendable, Hashable {
        /// The change fails, and the error names the calls.
        case fail
        /// The calls are cancelled, and have the same time again to end before the change fails.
        ///
        /// A native call runs in its caller's task, which remains cancelled.
        case cancel
        /// The old code serves callers again, and the drain is repeated once the calls have ended.
        ///
        /// The change fails when the attempts or the time are used up. It also fails if another change is requested, or
        /// one of its components must start, in the meantime.
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

/// The names of the policies for calls that outlast a drain, as used in manifests, requests and commands.
package enum LongCalls: String, Sendable, Hashable, CaseIterable, Codable {
    case later, cancel, fail
}

extension DrainPolicy {
    /// Creates a policy from its words.
    ///
    /// Values that are `nil` are taken from ``standard``; `retries` and `retryFor`, in seconds, belong to `later`.
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
}

extension DrainPolicy: Codable {
    private enum CodingKeys: CodingKey { case limit, longCalls, retries, retryFor }

    /// Decodes a policy in the words of a manifest; missing values are taken from ``standard``.
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
        switch fallback {
        case .fail: try container.encode(LongCalls.fail, forKey: .longCalls)
        case .cancel: try container.encode(LongCalls.cancel, forKey: .longCalls)
        case .retry(let attempts, let time):
            try container.encode(LongCalls.later, forKey: .longCalls)
            try container.encode(attempts, forKey: .retries)
            try container.encode(time, forKey: .retryFor)
        }
    }
}
