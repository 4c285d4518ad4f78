/// The folders of a plugin and its tests in a package.
struct PluginPlaces: Sendable, Hashable {
    var name: String
    /// The folders that contain the folders of targets; plugins may have `Plugins` of their own.
    var sourceHolder = "Sources", testHolder = "Tests"

    var tests: String { name + "Tests" }
    var folder: String { "\(sourceHolder)/\(name)" }
    var testFolder: String { "\(testHolder)/\(tests)" }
    /// The path for the target's declaration, or `nil` if SwiftPM finds the folder without it.
    var path: String? { sourceHolder == "Plugins" ? folder : nil }
}
