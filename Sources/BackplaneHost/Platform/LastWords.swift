import CBackplaneHost

/// What this process says when a trap in plugin code ends it: one line on standard error, with the plugin and its generation.
///
/// A trap (a `fatalError`, a wrong index, `abort`) cannot be survived in one process. What can be done is to say whose it was.
enum LastWords {
    /// From now on; whoever handled such signals before handles them before that.
    static func keep() { bph_keep_last_words() }

    /// What code of the file at `copy` is called.
    static func know(_ plugin: PluginImage, generation: Int) {
        bph_know_library(plugin.copy, "\(plugin), generation \(generation)")
    }

    /// Files in a folder of which nothing else is known are called by their names.
    static func know(folder: String) {
        bph_know_library(folder + "/", "")
    }
}
