package import Backplane
package import BackplaneHost

/// The plugin that is swapped: a turnstile with a small state, as a library in two editions for each language.
package enum TurnstilePlugin: String, Sendable, Codable {
    case swift = "Swift", c = "C"

    package static let manager = "Turnstile"

    /// Returns the paths of the built editions, the one to load first at the start.
    package func editions() throws(BackplaneError) -> [String] {
        switch self {
        case .swift: [try BuiltLibrary.path(of: "Turnstile1"), try BuiltLibrary.path(of: "Turnstile2")]
        case .c: [try BuiltLibrary.path(of: "TurnstileInC1"), try BuiltLibrary.path(of: "TurnstileInC2")]
        }
    }

    package func manifest(
        of library: String, manager: ManagerDefinition = ManagerDefinition(className: "TurnstileManager")
    ) -> Manifest {
        Manifest(
            plugins: [PluginReference(library: library)],
            managers: [Self.manager: manager])
    }
}
