import BackplaneHost
import BackplaneTerminal

/// The lines of a shell that are to be entered after something was made.
struct NextCommands: Sendable, Hashable {
    /// How this program is called.
    var tool = "backplane"
    /// The current folder.
    var folder = FilePath.absolute(".")

    /// As it was called itself, from any folder: by its name where a shell finds it, else by its whole path.
    static var own: NextCommands {
        let called = CommandLine.arguments.first ?? "backplane"
        return NextCommands(tool: called.contains("/") ? FilePath.absolute(called) : called)
    }

    func enter(_ folder: String) -> String { "cd \(folder.shellWord)" }

    /// Nothing where that is the current folder.
    func enter(package root: String) -> [String] { root == folder ? [] : [enter(root)] }

    let build = "swift build"
    let test = "swift test"

    /// Calls a manager of a manifest, with the libraries of a debug build.
    func call(_ layers: ManagerLayers, of manifest: String) -> String {
        let (method, input) = layers.firstCall
        let words = [manifest, layers.manager, method] + (input.map { [$0] } ?? []) + ["--plugin-path", ".build/debug"]
        return ([tool, "call"] + words).map(\.shellWord).joined(separator: " ")
    }

    func run(_ product: String) -> String { "swift run \(product.shellWord)" }
}
