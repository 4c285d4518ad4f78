/// Where a package has the targets of a plugin: everything in one, and the entry alone in another, since SwiftPM links all tests into one program.
struct PluginPlaces: Sendable, Hashable {
    enum Style: Sendable, Hashable {
        /// `Sources/TidesModule`, `Sources/Tides` and `Tests/TidesTests`: where SwiftPM looks for them.
        case sources
        /// `Plugins/Tides/Module`, `Plugins/Tides/Entry` and `Tests/TidesModuleTests`, as this package has them.
        case plugins
    }
    var name: String
    var style: Style
    /// The folders that the package's targets have theirs in.
    var sourceHolder = "Sources", testHolder = "Tests"

    var module: String { name + "Module" }
    var entry: String { style == .sources ? name : name + "Entry" }
    var tests: String { style == .sources ? name + "Tests" : name + "ModuleTests" }

    var moduleFolder: String { style == .sources ? "\(sourceHolder)/\(module)" : "Plugins/\(name)/Module" }
    var entryFolder: String { style == .sources ? "\(sourceHolder)/\(entry)" : "Plugins/\(name)/Entry" }
    var testFolder: String { "\(testHolder)/\(tests)" }

    /// As a target says them; `nil`: it need not.
    var modulePath: String? { style == .sources ? nil : moduleFolder }
    var entryPath: String? { style == .sources ? nil : entryFolder }
}
