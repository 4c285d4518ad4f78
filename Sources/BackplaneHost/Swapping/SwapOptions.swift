/// The limits and conditions of a swap.
public struct SwapOptions: Codable, Sendable, Hashable {
    /// The test that the new generation must pass before the old one is retired, or `nil` for none.
    public var probation: Probation?
    /// The time limit for calls in flight and graphs of operations to end, and the policy for those that do not.
    ///
    /// `nil` means the policy of the manifest, or else ``DrainPolicy/standard``.
    public var drain: DrainPolicy?
    /// The time limit for each step of each component.
    public var stepLimit: Duration
    /// A Boolean value that indicates whether the swap continues if state cannot be carried over.
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

    /// Creates the limits and conditions of one swap.
    ///
    /// By default, there is no probation, long calls are subject to the manifest's policy, a step may take 10 s, each
    /// library is tried, and a swap that loses state or methods is refused.
    public init(
        probation: Probation? = nil, drain: DrainPolicy? = nil,
        stepLimit: Duration = .seconds(10), discardsState: Bool = false, trustsLibraries: Bool = false,
        allowsMissingMethods: Bool = false, encodesState: Bool = false
    ) {
        (self.probation, self.drain, self.stepLimit) = (probation, drain, stepLimit)
        (self.discardsState, self.trustsLibraries) = (discardsState, trustsLibraries)
        (self.allowsMissingMethods, self.encodesState) = (allowsMissingMethods, encodesState)
    }

    /// Decodes options; those that are missing have the values of `SwapOptions()`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func flag(_ key: CodingKeys) throws -> Bool { try container.decodeIfPresent(Bool.self, forKey: key) ?? false }
        self.init(
            probation: try container.decodeIfPresent(Probation.self, forKey: .probation),
            drain: try container.decodeIfPresent(DrainPolicy.self, forKey: .drain),
            stepLimit: try container.decodeIfPresent(Duration.self, forKey: .stepLimit) ?? SwapOptions().stepLimit,
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

    /// Decodes a probation; what is missing, except the duration, has its default value.
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
