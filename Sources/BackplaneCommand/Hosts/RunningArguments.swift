#if Engines
import ArgumentParser
import BackplaneControl
import BackplaneHost

/// The options of commands that work on a manifest or on a running host.
struct RunningArguments: ParsableArguments {
    @Flag(help: "Use the running host instead of creating one.") var running = false

    @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The manifest, instead of the first argument; with --running, that of the running host.",
            valueName: "manifest"))
    var manifest: String?
}

extension HostArguments {
    /// Returns the settings with a manifest, or the running host to use.
    func settings(_ manifest: String?, _ running: RunningArguments) throws -> (
        settings: HostSettings, host: HostChoice?
    ) {
        try understood { () throws(Misuse) in
            if let manifest, running.manifest != nil {
                throw Misuse(description: "--manifest and `\(manifest)` both name a manifest; use only one of them")
            }
            return try settings.taking(
                manifest ?? running.manifest, running: running.running, socket: running.socket)
        }
    }
}
#endif
