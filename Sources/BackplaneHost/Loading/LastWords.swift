import CBackplaneHost

/// The line printed to standard error when a trap in plugin code ends the process.
///
/// It contains the file name of the copy, and with it the plugin and its generation.
///
/// A line is also printed when the process has no memory left: the Swift runtime ends such a process in whatever code
/// asks for memory next.
///
/// A trap (a `fatalError`, an index out of range, `abort`) cannot be survived within one process, but it can be
/// attributed.
enum LastWords {
    /// Installs the handlers for the rest of the process; earlier ones, such as Swift's backtracer, run afterwards.
    ///
    /// A write to a closed pipe is not a trap.
    static func keep() { bph_keep_last_words() }
}
