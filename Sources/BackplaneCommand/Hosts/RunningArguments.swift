#if Engines
import ArgumentParser
import BackplaneControl
import BackplaneHost

/// The options of commands that work on a manifest or on a running host.
struct RunningArguments: ParsableArguments {
    @Flag(help: "Ask the host that runs, and make none.") var running = false

    @Option(help: ArgumentHelp("The running host to ask, by the path of its socket.", valueName: "path"))
    var socket: String?
}

extension HostArguments {
    /// Returns the settings with a manifest, or the running host to ask.
    func settings(_ manifest: String?, _ running: RunningArguments) throws -> (
        settings: HostSettings, host: HostChoice?
    ) {
        try understood { () throws(CallWords.Misuse) in
            try settings.taking(manifest, running: running.running, socket: running.socket)
        }
    }
}

/// The options of commands that work on a running host only.
struct HostChoiceArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The running host, by the path of its socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The running host, by the manifest that is in force there (default: the only one there is, or that of the current folder).",
            valueName: "manifest"))
    var manifest: String?

    func validate() throws { _ = try choice }

    var choice: HostChoice {
        get throws {
            try understood { () throws(CallWords.Misuse) in try HostChoice.given(socket: socket, manifest: manifest) }
        }
    }
}

/// The options of commands that swap.
struct SwapArguments: ParsableArguments {
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
            return try understood { () throws(CallWords.Misuse) in try words.options() }
        }
    }
}
#endif
