import Backplane
import BackplaneHost

/// The options of a swap as they are entered.
struct SwapWords: Sendable, Hashable {
    /// The length of the probation, in seconds.
    var probation: Double?
    /// The tolerated fraction of failed calls, from 0 to 1.
    var errorRate: Double?
    /// The time limit for draining and for each step, in seconds.
    var timeout: Double?
    var discardsState = false

    /// Returns the options of the swap.
    ///
    /// - Throws: `Misuse` if a value is out of range, or an error rate is given without a probation.
    func options() throws(Misuse) -> SwapOptions {
        var options = SwapOptions(discardsState: discardsState)
        if let timeout {
            try Self.require(timeout, in: 0.001...86_400, "--timeout", "seconds, up to a day")
            (options.drainLimit, options.stepLimit) = (.seconds(timeout), .seconds(timeout))
        }
        if let probation {
            try Self.require(probation, in: 0.001...86_400, "--probation", "seconds, up to a day")
            options.probation = Probation(duration: .seconds(probation))
        }
        if let errorRate {
            guard options.probation != nil else {
                throw .init(description: "--error-rate requires --probation")
            }
            try Self.require(errorRate, in: 0...1, "--error-rate", "a fraction from 0 to 1")
            options.probation?.errorRate = errorRate
        }
        return options
    }

    private static func require(_ number: Double, in range: ClosedRange<Double>, _ name: String, _ what: String)
        throws(Misuse)
    {
        guard range.contains(number) else { throw .init(description: "\(name): expected \(what), found \(number)") }
    }
}
