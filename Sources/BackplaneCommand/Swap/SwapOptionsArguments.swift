#if Engines
import ArgumentParser
import BackplaneHost

/// The options of commands that swap.
struct SwapOptionsArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Seconds during which the swap is rolled back if the new code fails (default: none).", valueName: "seconds")
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

    var options: SwapOptions {
        get throws {
            let words = SwapWords(
                probation: probation, errorRate: errorRate, timeout: timeout, discardsState: discardState,
                calls: calls.words)
            return try understood { () throws(Misuse) in try words.options() }
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

    @Flag(help: "Cancel graphs of operations that outlast the drain, or that the new code does not define.")
    var abandonGraphs = false

    func validate() throws { _ = try options }

    var words: LongCallWords {
        LongCallWords(
            drain: drain, longCalls: longCalls, retries: retries, retryFor: retryFor,
            allowsMissingMethods: allowMissing, encodesState: encodedState, abandonsGraphs: abandonGraphs)
    }

    /// The swap options with these values; `nil` if all are the host's defaults.
    var options: SwapOptions? {
        get throws { try understood { () throws(Misuse) in try words.options() } }
    }
}
#endif
