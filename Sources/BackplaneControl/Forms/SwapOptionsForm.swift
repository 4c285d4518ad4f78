package import Backplane
package import BackplaneHost

/// The JSON form of the options of `swap`, `preview` and `rollback`, before validation.
package struct SwapOptionsForm: Codable, Sendable {
    package var probation: ProbationForm?
    /// The drain limit in seconds; if neither it nor `longCalls` is set, the manifest's policy applies.
    package var drainLimit: Double?
    /// The policy for calls that take longer: `later`, `cancel` or `fail`.
    ///
    /// `nil`, as in requests of older tools, means `fail` if there is a limit.
    package var longCalls: String?
    /// The maximum number of retries for `later`.
    package var retries: Int?
    /// The time during which retries for `later` may begin, in seconds.
    package var retryFor: Double?
    /// The step limit in seconds.
    package var stepLimit: Double
    package var discardsState: Bool
    /// A Boolean value that indicates whether new libraries are loaded without a trial; `nil` means `false`.
    package var trustsLibraries: Bool?
    /// A Boolean value that indicates whether the new code may lack methods that callers use; `nil` means no.
    package var allowsMissingMethods: Bool?
    /// A Boolean value that indicates whether state crosses as JSON even if it could cross as a Swift value; `nil`
    /// means no.
    package var encodesState: Bool?

    package init(_ options: SwapOptions) {
        probation = options.probation.map(ProbationForm.init)
        drainLimit = options.drain.map { $0.limit / .seconds(1) }
        longCalls = options.drain?.longCalls.rawValue
        retries = options.drain?.retries?.attempts
        retryFor = options.drain?.retries.map { $0.time / .seconds(1) }
        stepLimit = options.stepLimit / .seconds(1)
        discardsState = options.discardsState
        trustsLibraries = options.trustsLibraries ? true : nil
        allowsMissingMethods = options.allowsMissingMethods ? true : nil
        encodesState = options.encodesState ? true : nil
    }

    private enum CodingKeys: String, CodingKey {
        case probation = "probation"
        case drainLimit = "drainLimit"
        case longCalls = "longCalls"
        case retries = "retries"
        case retryFor = "retryFor"
        case stepLimit = "stepLimit"
        case discardsState = "discardsState"
        case trustsLibraries = "trustsLibraries"
        case allowsMissingMethods = "allowsMissingMethods"
        case encodesState = "encodesState"
    }

    /// Returns the validated options.
    ///
    /// - Throws: `control.malformed` for a value out of range.
    package func options() throws(BackplaneError) -> SwapOptions {
        SwapOptions(
            probation: try probation?.probation(), drain: try drain(),
            stepLimit: try stepLimit.asSeconds(at: "/options/stepLimit"), discardsState: discardsState,
            trustsLibraries: trustsLibraries ?? false, allowsMissingMethods: allowsMissingMethods ?? false,
            encodesState: encodesState ?? false)
    }

    private func drain() throws(BackplaneError) -> DrainPolicy? {
        let limit = try drainLimit?.asSeconds(at: "/options/drainLimit")
        let retryFor = try retryFor?.asSeconds(at: "/options/retryFor")
        if let retries, !(1...1_000_000).contains(retries) {
            throw BackplaneError(
                .controlMalformed, "expected a number from 1 to 1000000, found \(retries)", at: "/options/retries")
        }
        guard let longCalls else {
            return limit.map { DrainPolicy(limit: $0, longCalls: .fail) }
        }
        guard let word = LongCalls(rawValue: longCalls) else {
            throw BackplaneError(
                .controlMalformed, "expected `later`, `cancel` or `fail`, found `\(longCalls)`",
                at: "/options/longCalls")
        }
        return DrainPolicy(limit: limit, longCalls: word, retries: retries, retryFor: retryFor)
    }
}

/// The JSON form of the probation in the options of a swap.
package struct ProbationForm: Codable, Sendable {
    /// The duration of the probation, in seconds.
    package var duration: Double
    package var errorRate: Double
    package var minimumCalls: Int
    /// The interval between health checks, in seconds.
    package var healthInterval: Double

    package init(_ probation: Probation) {
        (duration, healthInterval) = (probation.duration / .seconds(1), probation.healthInterval / .seconds(1))
        (errorRate, minimumCalls) = (probation.errorRate, probation.minimumCalls)
    }

    private enum CodingKeys: String, CodingKey {
        case duration = "duration"
        case errorRate = "errorRate"
        case minimumCalls = "minimumCalls"
        case healthInterval = "healthInterval"
    }

    fileprivate func probation() throws(BackplaneError) -> Probation {
        let duration = try duration.asSeconds(at: "/options/probation/duration")
        let healthInterval = try healthInterval.asSeconds(at: "/options/probation/healthInterval")
        guard (0...1).contains(errorRate) else {
            throw BackplaneError(
                .controlMalformed, "expected a fraction from 0 to 1, found \(errorRate)",
                at: "/options/probation/errorRate"
            )
        }
        return Probation(
            duration: duration, errorRate: errorRate, minimumCalls: minimumCalls, healthInterval: healthInterval)
    }
}

extension Double {
    /// Returns the number as a duration in seconds.
    ///
    /// - Throws: `control.malformed` if it is out of range.
    func asSeconds(at location: String) throws(BackplaneError) -> Duration {
        guard self > 0, self <= 1e9 else {
            throw BackplaneError(.controlMalformed, "expected a number of seconds above 0, found \(self)", at: location)
        }
        return .seconds(self)
    }
}
