package import Backplane
package import BackplaneHost

/// The options of `swap`, `preview` and `rollback`, none of which is checked yet.
package struct SwapOptionsForm: Codable, Sendable {
    package var probation: ProbationForm?
    /// Seconds.
    package var drainLimit: Double
    /// Seconds.
    package var stepLimit: Double
    package var discardsState: Bool

    package init(_ options: SwapOptions) {
        probation = options.probation.map(ProbationForm.init)
        (drainLimit, stepLimit) = (options.drainLimit / .seconds(1), options.stepLimit / .seconds(1))
        discardsState = options.discardsState
    }

    private enum CodingKeys: String, CodingKey {
        case probation = "probation", drainLimit = "drainLimit", stepLimit = "stepLimit", discardsState = "discardsState"
    }

    /// - Throws: `control.malformed` for what no clock can count, and a part that is none.
    package func options() throws(BackplaneError) -> SwapOptions {
        SwapOptions(
            probation: try probation?.probation(), drainLimit: try drainLimit.asSeconds(at: "/options/drainLimit"),
            stepLimit: try stepLimit.asSeconds(at: "/options/stepLimit"), discardsState: discardsState)
    }
}

/// The probation among the options.
package struct ProbationForm: Codable, Sendable {
    /// Seconds.
    package var duration: Double
    package var errorRate: Double
    package var minimumCalls: Int
    /// Seconds.
    package var healthInterval: Double

    package init(_ probation: Probation) {
        (duration, healthInterval) = (probation.duration / .seconds(1), probation.healthInterval / .seconds(1))
        (errorRate, minimumCalls) = (probation.errorRate, probation.minimumCalls)
    }

    private enum CodingKeys: String, CodingKey {
        case duration = "duration", errorRate = "errorRate", minimumCalls = "minimumCalls", healthInterval = "healthInterval"
    }

    fileprivate func probation() throws(BackplaneError) -> Probation {
        let duration = try duration.asSeconds(at: "/options/probation/duration")
        let healthInterval = try healthInterval.asSeconds(at: "/options/probation/healthInterval")
        guard (0...1).contains(errorRate) else {
            throw BackplaneError(.controlMalformed, "expected a part from 0 to 1, found \(errorRate)", at: "/options/probation/errorRate")
        }
        return Probation(duration: duration, errorRate: errorRate, minimumCalls: minimumCalls, healthInterval: healthInterval)
    }
}

extension Double {
    /// - Throws: `control.malformed` for what no clock can count.
    func asSeconds(at location: String) throws(BackplaneError) -> Duration {
        guard self > 0, self <= 1e9 else {
            throw BackplaneError(.controlMalformed, "expected a number of seconds above 0, found \(self)", at: location)
        }
        return .seconds(self)
    }
}
