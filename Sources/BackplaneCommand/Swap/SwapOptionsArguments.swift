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
            "Seconds that calls in flight may take to finish, and each lifecycle step of a component (default: 10).",
            valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Continue if state cannot be carried over; the new code starts without it.") var discardState = false

    func validate() throws { _ = try options }

    var options: SwapOptions {
        get throws {
            let words = SwapWords(
                probation: probation, errorRate: errorRate, timeout: timeout, discardsState: discardState)
            return try understood { () throws(Misuse) in try words.options() }
        }
    }
}
#endif
