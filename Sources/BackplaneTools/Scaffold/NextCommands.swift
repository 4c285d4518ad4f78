import BackplaneHost

/// The shell commands to enter after creating an item.
struct NextCommands: Sendable, Hashable {
    /// The command that runs this program.
    var tool = "backplane"
    /// The absolute path of the current folder.
    var folder = FilePath.absolute(".")

    /// The commands that refer to this program by name if the shell finds it, and otherwise by absolute path.
    static var own: NextCommands {
        let called = CommandLine.arguments.first ?? "backplane"
        return NextCommands(tool: called.contains("/") ? FilePath.absolute(called) : called)
    }

    func enter(_ folder: String) -> String { "cd \(folder.shellWord)" }

    /// Returns the command that enters the package, or nothing if it is the current folder.
    func enter(package root: String) -> [String] { root == folder ? [] : [enter(root)] }

    let build = "swift build"
    let test = "swift test"

    /// Returns the command that calls a manager.
    func call(_ layers: ManagerLayers, of manifest: String) -> String {
        let (method, input) = layers.firstCall
        let words = [manifest, layers.manager, method] + (input.map { [$0] } ?? [])
        return ([tool, "call"] + words).map(\.shellWord).joined(separator: " ")
    }

    /// Returns the command that adds a manager with its contracts in a library.
    func addManager(contracts: String) -> String {
        ([tool, "new", "manager", "NAME", "--contracts", contracts]).map(\.shellWord).joined(separator: " ")
    }

    func check(_ file: String) -> String { [tool, "check", file].map(\.shellWord).joined(separator: " ") }

    var dev: String { "\(tool.shellWord) dev" }

    func run(_ product: String) -> String { "swift run \(product.shellWord)" }
}
