import ArgumentParser
import BackplaneHost
import BackplaneTools

/// The options of commands that activate new code, which they can also only plan.
struct NewCodeArguments: ParsableArguments {
    @OptionGroup var change: ChangeOptionsArguments
    @Flag(help: "Load new libraries without trying them in a child process first.") var trust = false
    @Flag(help: "Print the plan and change nothing.") var dryRun = false

    var options: ChangeOptions {
        get throws {
            var options = try change.options
            options.trustsLibraries = trust
            return options
        }
    }
}

/// The options of commands that swap.
struct ChangeOptionsArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Seconds during which the change is undone if the new code fails (default: none).", valueName: "seconds")
    )
    var probation: Double?

    @Option(
        help: ArgumentHelp(
            "The fraction of calls that may fail during probation (default: 0.1).", valueName: "fraction"))
    var errorRate: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds that each lifecycle step of a component may take (default: 10).",
            valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Continue if state cannot be carried over; the new code starts without it.") var discardState = false
    @OptionGroup var calls: LongCallArguments

    func validate() throws { _ = try options }

    var options: ChangeOptions {
        get throws {
            var options = ChangeOptions(discardsState: discardState)
            try calls.add(to: &options)
            if let timeout {
                try require(timeout, in: 0.001...86_400, "--timeout", "seconds, up to a day")
                options.stepLimit = .seconds(timeout)
            }
            if let probation {
                try require(probation, in: 0.001...86_400, "--probation", "seconds, up to a day")
                options.probation = Probation(duration: .seconds(probation))
            }
            if let errorRate {
                guard options.probation != nil else { throw ValidationError("--error-rate requires --probation") }
                try require(errorRate, in: 0...1, "--error-rate", "a fraction from 0 to 1")
                options.probation?.errorRate = errorRate
            }
            return options
        }
    }
}

/// The options for handling callers, for commands that swap once or repeatedly.
struct LongCallArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Seconds that new calls wait for those in flight (default: the manifest's, or 0.2).",
            valueName: "seconds"))
    var drain: Double?

    @Option(
        help: ArgumentHelp(
            "The policy if calls in flight take longer: later (swap once they have ended), cancel, or fail (default: later).",
            valueName: "policy"), completion: .list(["later", "cancel", "fail"]))
    var longCalls: String?

    @Option(help: ArgumentHelp("The maximum number of retries (default: 100).", valueName: "number"))
    var retries: Int?

    @Option(
        help: ArgumentHelp(
            "The time in seconds after which no further retry starts (default: 600; in dev: 10).",
            valueName: "seconds"))
    var retryFor: Double?

    @Flag(help: "Continue if callers use methods that the new code lacks; such calls then fail.")
    var allowMissing = false

    @Flag(help: "Carry state over as JSON, even where the Swift value itself could be handed over.")
    var encodedState = false

    func validate() throws { _ = try options }

    /// The swap options with these values; `nil` if all are the host's defaults.
    var options: ChangeOptions? {
        get throws {
            var options = ChangeOptions()
            try add(to: &options)
            return options == ChangeOptions() ? nil : options
        }
    }

    /// Adds these options to the options of a swap.
    ///
    /// - Throws: `ValidationError` if a value is out of range, or has no effect in combination with another.
    func add(to options: inout ChangeOptions) throws {
        (options.allowsMissingMethods, options.encodesState) = (allowMissing, encodedState)
        guard drain != nil || longCalls != nil || retries != nil || retryFor != nil else { return }
        if let drain { try require(drain, in: 0.001...86_400, "--drain", "seconds, up to a day") }
        if let retries { try require(Double(retries), in: 1...1_000_000, "--retries", "a number above 0") }
        if let retryFor { try require(retryFor, in: 0.001...86_400, "--retry-for", "seconds, up to a day") }
        let policy = try longCalls.map { text in
            if let policy = LongCalls(rawValue: text) { return policy }
            throw ValidationError("--long-calls: expected later, cancel or fail, found `\(text.printable)`")
        }
        if let policy, policy != .later, retries != nil || retryFor != nil {
            throw ValidationError("--retries and --retry-for require --long-calls later")
        }
        options.drain = DrainPolicy(
            limit: drain.map(Duration.seconds), longCalls: policy, retries: retries,
            retryFor: retryFor.map(Duration.seconds))
    }
}

private func require(_ number: Double, in range: ClosedRange<Double>, _ option: String, _ expected: String) throws {
    guard range.contains(number) else { throw ValidationError("\(option): expected \(expected), found \(number)") }
}
