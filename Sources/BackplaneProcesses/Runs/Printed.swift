import Foundation
import Synchronization

/// What a process has printed so far, the last of it: one that never stops printing fills no memory.
final class Printed: Sendable {
    private let bytes = Mutex(Data())
    private let limit: Int

    /// - Parameter limit: in bytes.
    init(last limit: Int) { self.limit = limit }

    var data: Data { bytes.withLock { $0 } }

    /// Reads on a thread of its own until the end.
    ///
    /// - Parameter watch: told what was read; the end is empty.
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
