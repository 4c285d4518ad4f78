#if Engines
import ArgumentParser
import BackplaneHost

/// The options of commands that swap.
struct SwapOptionsArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Seconds in which the new code is swapped back if it fails (default: none).", valueName: "seconds"))
    var probation: Double?

    @Option(
        help: ArgumentHelp("The part of its calls that may fail during probation (default: 0.1).", valueName: "part"))
    var errorRate: Double?

    @Option(
        help: ArgumentHelp(
            "Seconds that calls under way may take to end, and each step of a component (default: 10).",
            valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Go on where state cannot be carried over; the new code begins without it.") var discardState = false

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
