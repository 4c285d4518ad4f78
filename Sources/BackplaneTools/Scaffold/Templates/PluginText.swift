/// The two files that turn a library into a plugin.
enum PluginText {
    /// Returns the source of the plugin's type, which registers the component classes.
    static func plugin(_ name: NewName, classes: [String]) -> String {
        """
        public import Backplane

        public struct \(name.text)Plugin: Plugin {
            public static let id = "org.example.\(name.kebab)"
            public static let version: Version = "1.0.0"

            public static func register(in registrar: inout Registrar) {
        \(classes.map { "        registrar.add(\($0).self)" }.joined(separator: "\n"))
            }
        }

        """
    }

    /// Returns the source of the entry function, which the host looks up in the library.
    ///
    /// It has a separate target, so that tests can link the rest of the plugin together with other plugins.
    static func entry(_ name: NewName) -> String {
        """
        import Backplane
        public import CBackplane
        import \(name.text)Module

        @c @implementation
        public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
            \(name.text)Plugin.enter(offer, answer)
        }

        """
    }
}
