#if Engines
import ArgumentParser
import BackplaneControl

/// The options of commands that work only on a running host.
struct HostChoiceArguments: ParsableArguments {
    @Flag(help: "Use the running host, as this command always does.") var running = false

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
            try understood { () throws(Misuse) in try HostChoice.given(socket: socket, manifest: manifest) }
        }
    }
}
#endif
