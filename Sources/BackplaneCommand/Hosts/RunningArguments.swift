#if Engines
import ArgumentParser
import BackplaneControl
import BackplaneHost

/// The options of commands that work on a manifest or on a running host.
struct RunningArguments: ParsableArguments {
    @Flag(help: "Ask the running host instead of creating one.") var running = false

    @Option(help: ArgumentHelp("The path of the socket of the running host to ask.", valueName: "path"))
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
    @Option(help: ArgumentHelp("The path of the running host's socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The manifest that is active in the running host (default: that of the only running host, or the one in the current folder).",
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
            return try understood { () throws(CallWords.Misuse) in try words.options() }
        }
    }
}
#endif
