import CBackplaneHost

/// What this process says when a trap in plugin code ends it: a line on standard error with the file name of the copy, and so its plugin and generation.
///
/// A trap (a `fatalError`, a wrong index, `abort`) cannot be survived in one process. What can be done is to say whose it was.
enum LastWords {
    /// From now on; whoever handled such signals before handles them after that, as Swift's backtracer does. A write to a closed pipe is none.
    static func keep() { bph_keep_last_words() }
}
