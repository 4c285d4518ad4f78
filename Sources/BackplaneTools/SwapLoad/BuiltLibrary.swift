package import Backplane
import BackplaneHost

/// A library that is built together with this program and placed next to it.
package enum BuiltLibrary {
    /// Returns the path of a built library.
    ///
    /// - Throws: `plugin.not-found` with the command that builds it.
    package static func path(of name: String) throws(BackplaneError) -> String {
        try LibraryLocator(
            manifestFolder: nil, pluginPaths: [],
            advice: "build it with `swift build`, which puts it next to this program"
        )
        .locate(name)
    }
}
