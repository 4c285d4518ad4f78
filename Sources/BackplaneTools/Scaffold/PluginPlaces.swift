/// The folders and targets of a plugin in a package.
///
/// The entry function has a separate target, because SwiftPM links all tests into one program.
struct PluginPlaces: Sendable, Hashable {
    enum Style: Sendable, Hashable {
        /// The default folders of SwiftPM: `Sources/TidesModule`, `Sources/Tides` and `Tests/TidesTests`.
        case sources
        /// The folders of this package: `Plugins/Tides/Module`, `Plugins/Tides/Entry` and `Tests/TidesModuleTests`.
        case plugins
    }
    var name: String
    var style: Style
    /// The folders that contain the folders of targets.
    var sourceHolder = "Sources", testHolder = "Tests"

    var module: String { name + "Module" }
    var entry: String { style == .sources ? name : name + "Entry" }
    var tests: String { style == .sources ? name + "Tests" : name + "ModuleTests" }

    var moduleFolder: String { style == .sources ? "\(sourceHolder)/\(module)" : "Plugins/\(name)/Module" }
    var entryFolder: String { style == .sources ? "\(sourceHolder)/\(entry)" : "Plugins/\(name)/Entry" }
    var testFolder: String { "\(testHolder)/\(tests)" }

    /// The paths for the target declarations, or `nil` if SwiftPM finds the folders without them.
    var modulePath: String? { style == .sources ? nil : moduleFolder }
    var entryPath: String? { style == .sources ? nil : entryFolder }
}
