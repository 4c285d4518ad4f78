#if !Engines
import Backplane
import BackplaneControl
import BackplaneHost

extension PlainArguments {
    /// The settings of a command that works on a manifest or on a running host.
    ///
    /// - Parameter words: those that are left, of which some may be the manifest; `nil`: the next word is.
    mutating func settingsOrHost<Words>(_ words: (inout PlainArguments) throws -> (manifest: String?, Words)) throws -> (HostSettings, HostChoice?, Words) {
        let running = flag("--running"), socket = try text("--socket"), options = try options(logLevel: .notice)
        let (manifest, rest) = try words(&self)
        let (settings, host) = try options.taking(manifest, running: running, socket: socket)
        return (settings, host, rest)
    }

    /// The running host that a command is for.
    mutating func hostChoice() throws -> HostChoice {
        try .given(socket: text("--socket"), manifest: text("--manifest"))
    }

    mutating func swapOptions() throws -> SwapOptions {
        let words = SwapWords(
            probation: try seconds("--probation"), errorRate: try seconds("--error-rate"), timeout: try seconds("--timeout"), discardsState: flag("--discard-state"))
        return try words.options()
    }
}
#endif
