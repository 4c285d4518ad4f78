import Backplane
import BackplaneHost
import BackplaneTerminal

/// The options of a swap as entered.
struct SwapWords: Sendable, Hashable {
    /// The duration of the probation, in seconds.
    var probation: Double?
    /// The tolerated fraction of failed calls, from 0 to 1.
    var errorRate: Double?
    /// The time limit for each step, in seconds.
    var timeout: Double?
    var discardsState = false
    var calls = LongCallWords()

    /// Returns the options of the swap.
    ///
    /// - Throws: `Misuse` if a value is out of range, or an error rate is given without a probation.
    func options() throws(Misuse) -> SwapOptions {
        var options = SwapOptions(discardsState: discardsState)
        try calls.add(to: &options)
        if let timeout {
            try Self.require(timeout, in: 0.001...86_400, "--timeout", "seconds, up to a day")
            options.stepLimit = .seconds(timeout)
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

    fileprivate static func require(_ number: Double, in range: ClosedRange<Double>, _ name: String, _ what: String)
        throws(Misuse)
    {
        guard range.contains(number) else { throw .init(description: "\(name): expected \(what), found \(number)") }
    }
}

/// The options of a swap for handling callers and for the lane of state, as entered.
struct LongCallWords: Sendable, Hashable {
    /// The time limit for calls in flight to end, in seconds.
    var drain: Double?
    /// The policy for calls that take longer.
    var longCalls: String?
    /// The maximum number of retries.
    var retries: Int?
    /// The time during which retries may begin, in seconds.
    var retryFor: Double?
    var allowsMissingMethods = false
    var encodesState = false
    var abandonsGraphs = false

    /// Adds these options to those of a swap.
    ///
    /// - Throws: `Misuse` if a value is out of range, or has no effect in combination with another.
    func add(to options: inout SwapOptions) throws(Misuse) {
        (options.allowsMissingMethods, options.encodesState) = (allowsMissingMethods, encodesState)
        options.abandonsGraphs = abandonsGraphs
        guard drain != nil || longCalls != nil || retries != nil || retryFor != nil else { return }
        if let drain { try SwapWords.require(drain, in: 0.001...86_400, "--drain", "seconds, up to a day") }
        if let retries { try SwapWords.require(Double(retries), in: 1...1_000_000, "--retries", "a number above 0") }
        if let retryFor { try SwapWords.require(retryFor, in: 0.001...86_400, "--retry-for", "seconds, up to a day") }
        let word = try longCalls.map { text throws(Misuse) -> LongCalls in
            if let word = LongCalls(rawValue: text) { return word }
            throw .init(description: "--long-calls: expected later, cancel or fail, found `\(text.printable)`")
        }
        if let word, word != .later, retries != nil || retryFor != nil {
            throw .init(description: "--retries and --retry-for require --long-calls later")
        }
        options.drain = DrainPolicy(
            limit: drain.map(Duration.seconds), longCalls: word, retries: retries,
            retryFor: retryFor.map(Duration.seconds))
    }

    /// Returns the swap options with these values; `nil` if all are the host's defaults.
    func options() throws(Misuse) -> SwapOptions? {
        var options = SwapOptions()
        try add(to: &options)
        return options == SwapOptions() ? nil : options
    }
}
