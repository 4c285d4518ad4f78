package import Backplane
import BackplaneHost

/// A library that is built together with this program, and lies beside it.
package enum BuiltLibrary {
    /// - Throws: `plugin.not-found`, with what makes it.
    package static func path(of name: String) throws(BackplaneError) -> String {
        try LibraryLocator(manifestFolder: nil, pluginPaths: [], advice: "`swift build` makes it beside this program").locate(name)
    }
}
