package import Backplane
package import BackplaneHost

/// The JSON form of the options of `swap`, `preview` and `rollback`, before validation.
package struct SwapOptionsForm: Codable, Sendable {
    package var probation: ProbationForm?
    /// The drain limit in seconds.
    package var drainLimit: Double
    /// The step limit in seconds.
    package var stepLimit: Double
    package var discardsState: Bool
    /// Whether new libraries are loaded without a trial; `nil`, as in requests of older tools, means no.
    package var trustsLibraries: Bool?

    package init(_ options: SwapOptions) {
        probation = options.probation.map(ProbationForm.init)
        (drainLimit, stepLimit) = (options.drainLimit / .seconds(1), options.stepLimit / .seconds(1))
        discardsState = options.discardsState
        trustsLibraries = options.trustsLibraries ? true : nil
    }

    private enum CodingKeys: String, CodingKey {
        case probation, drainLimit, stepLimit, discardsState, trustsLibraries
    }

    /// Returns the validated options.
    ///
    /// - Throws: `control.malformed` for a duration out of range or an error rate that is not a fraction.
    package func options() throws(BackplaneError) -> SwapOptions {
        SwapOptions(
            probation: try probation?.probation(), drainLimit: try drainLimit.asSeconds(at: "/options/drainLimit"),
            stepLimit: try stepLimit.asSeconds(at: "/options/stepLimit"), discardsState: discardsState,
            trustsLibraries: trustsLibraries ?? false)
    }
}

/// The JSON form of the probation among the options.
package struct ProbationForm: Codable, Sendable {
    /// The length of the probation in seconds.
    package var duration: Double
    package var errorRate: Double
    package var minimumCalls: Int
    /// The time between two health checks in seconds.
    package var healthInterval: Double

    package init(_ probation: Probation) {
        (duration, healthInterval) = (probation.duration / .seconds(1), probation.healthInterval / .seconds(1))
        (errorRate, minimumCalls) = (probation.errorRate, probation.minimumCalls)
    }

    private enum CodingKeys: String, CodingKey { case duration, errorRate, minimumCalls, healthInterval }

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
