import Foundation

/// Why every host links Foundation, though nothing of the host uses it.
///
/// Foundation takes the thread that loads it for the program's main thread, and ties the main queue to it. If the first to
/// bring it were a plugin, that thread would be the coordinator's, and whatever the program awaits on its main actor would
/// never go on. Linked into the program, it is loaded by the real main thread before anything else.
enum MainQueue {
    /// A reference, so that no linker leaves the library out.
    static let owner: AnyClass = RunLoop.self
}
