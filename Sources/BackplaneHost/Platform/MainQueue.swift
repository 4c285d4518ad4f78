import Foundation

/// A reference that makes every host link Foundation, although the host itself does not use it.
///
/// Foundation assumes that the thread that loads it is the program's main thread, and binds the main queue to it. If a
/// plugin were the first to load it, that thread would be the coordinator's, and work that the program awaits on its
/// main actor would never resume. Linked into the program, it is loaded by the actual main thread before anything else.
enum MainQueue {
    /// A reference to Foundation, which prevents linkers from dropping the library.
    static let owner: AnyClass = RunLoop.self
}
