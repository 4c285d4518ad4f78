import Backplane
import CBackplaneHost

/// What this process says when a trap in plugin code ends it: one line on standard error, with the plugin and its generation.
///
/// A trap (a `fatalError`, a wrong index, `abort`) cannot be survived in one process. What can be done is to say whose it was.
enum LastWords {
    /// From now on; whoever handled such signals before handles them before that. A write to a closed pipe is none.
    static func keep() { bph_keep_last_words() }

    /// What code of the file at `copy` is called.
    static func know(_ plugin: PluginImage, generation: Int) {
        bph_know_library(plugin.copy, "\(plugin), generation \(generation)")
    }

    /// What code of a library is called that is to be loaded: constructors and the entry run before it is a plugin.
    ///
    /// - Parameter generation: the one that it is to be, of the plugin with its id.
    static func know(_ file: LibraryFile, generation: (String) -> Int) {
        let library = FilePath.name(of: file.path), identity = file.identity
        guard let id = identity.id else { return bph_know_library(file.copy, library) }
        let name = [id, identity.version?.description, "(\(library))"].compactMap(\.self).joined(separator: " ")
        bph_know_library(file.copy, "\(name), generation \(generation(id))")
    }
}
