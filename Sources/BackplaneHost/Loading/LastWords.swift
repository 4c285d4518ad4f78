import CBackplaneHost

/// The line printed to standard error when a trap in plugin code ends the process.
///
/// It names the plugin, its generation, the innermost function of the plugin on the stack and the file of the copy. The
/// function is found in a child process, because the search may encounter a lock held by the crashed thread; it is
/// omitted if it is not found quickly.
///
/// A line is also printed when the process is out of memory: the Swift runtime ends such a process in the code that
/// next requests memory.
///
/// A trap (a `fatalError`, an index out of range, `abort`) cannot be survived within a process, but it can be
/// attributed.
enum LastWords {
    /// Installs the handlers for the rest of the process; earlier handlers, such as Swift's backtracer, run afterwards.
    ///
    /// A write to a closed pipe is not a trap.
    static func keep() { bph_keep_last_words() }

    /// Records the plugin of a copy, because the name of the first copy of a plugin in Swift does not contain its id.
    static func name(_ plugin: String, inCopyAt path: String) { bph_name_plugin(path, plugin) }
}
