import Foundation
import Synchronization

/// The last part of a process's output so far, limited so that endless output does not exhaust the memory.
final class OutputTail: Sendable {
    private let bytes = Mutex(Data())
    private let limit: Int

    /// Creates an empty record.
    ///
    /// - Parameter limit: The number of bytes to retain.
    init(last limit: Int) { self.limit = limit }

    var data: Data { bytes.withLock { $0 } }

    /// Reads on a separate thread until the end of file.
    ///
    /// - Parameter watch: A function called with each piece that was read, which is empty at the end.
    func read(_ file: FileHandle, _ watch: @escaping @Sendable (Data) -> Void) {
        Thread.detachNewThread { [self] in
            while true {
                let next = file.availableData
                bytes.withLock { $0 = ($0 + next).suffix(limit) }
                watch(next)
                if next.isEmpty { return }
            }
        }
    }
}
