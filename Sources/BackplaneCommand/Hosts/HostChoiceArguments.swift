#if Engines
import ArgumentParser
import BackplaneControl

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
            try understood { () throws(Misuse) in try HostChoice.given(socket: socket, manifest: manifest) }
        }
    }
}
#endif
