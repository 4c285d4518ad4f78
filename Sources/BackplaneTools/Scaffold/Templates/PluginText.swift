/// The file that turns a library into a plugin.
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
}
