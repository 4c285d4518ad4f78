import Glibc
import Synchronization

/// What nobody needs to run a library and a copy is loaded without: its symbols and its debug information.
///
/// Debuggers, the traces of crashes and the watchdog's function names need it, so the copy gets it while it is in force. The copy
/// has its full size all the time; where the remainder is missing it reads as zeros that take no room.
package final class LibraryRemainder: Sendable {
    /// Where the library was built, and what the file was like when it was copied.
    private let source: (path: String, status: FileStatus)
    let copy: String
    /// Where it lies in the file.
    private let gaps: [Range<Int>]
    private let state = Mutex(State.missing)

    private enum State {
        case missing, filled
        /// For good.
        case dropped
    }

    init(of source: (path: String, status: FileStatus), copy: String, at gaps: [Range<Int>]) {
        (self.source, self.copy, self.gaps) = (source, copy, gaps)
    }

    /// Copies it, piece by piece, as long as `isWanted` and nobody drops it; where the source has been written to since, it
    /// stays missing, for symbols of another build would tell lies.
    func fill(while isWanted: () -> Bool = { true }) {
        guard let file = try? LibraryFile.open(source.path), isUnchanged(file),
            let target = try? FileDescriptor(opening: copy, O_RDWR | O_NOFOLLOW)
        else { return }
        let isCopied = gaps.flatMap(Self.pieces).allSatisfy { isWanted() && copyPiece($0, of: file, to: target) } && isUnchanged(file)
        state.withLock { state in
            if isCopied, case .missing = state { state = .filled } else { empty(target) }
        }
    }

    /// What of the file the copy does not have now.
    var missing: [Range<Int>] {
        state.withLock { state in
            if case .filled = state { [] } else { gaps }
        }
    }

    /// Keeps it from being copied from here on.
    ///
    /// - Returns: whether it is there, and takes room until ``giveRoomBack()``.
    func drop() -> Bool {
        state.withLock { state in
            defer { state = .dropped }
            if case .filled = state { return true }
            return false
        }
    }

    /// What is loaded runs on.
    func giveRoomBack() {
        state.withLock { _ in
            if let target = try? FileDescriptor(opening: copy, O_RDWR | O_NOFOLLOW) { empty(target) }
        }
    }

    private func isUnchanged(_ file: borrowing FileDescriptor) -> Bool {
        (try? FileStatus(of: file)) == source.status
    }

    /// In pieces of which each is copied in a fraction of a millisecond.
    private static func pieces(of gap: Range<Int>) -> [Range<Int>] {
        stride(from: gap.lowerBound, to: gap.upperBound, by: 1 << 18).map { $0..<min($0 + 1 << 18, gap.upperBound) }
    }

    private func copyPiece(_ piece: Range<Int>, of file: borrowing FileDescriptor, to target: borrowing FileDescriptor) -> Bool {
        state.withLock { state in
            guard case .missing = state else { return false }
            return (try? file.copy(piece, to: target)) ?? false
        }
    }

    /// Takes the file's end off and puts back what of it was needed: unlike a hole, every file system can do that. With the lock held.
    private func empty(_ target: borrowing FileDescriptor) {
        guard let first = gaps.first, let size = try? FileStatus(of: target).size else { return }
        let kept = zip(gaps, gaps.dropFirst().map(\.lowerBound) + [size]).map { $0.upperBound..<$1 }.filter { !$0.isEmpty }
        let bytes = kept.compactMap { try? target.bytes(in: $0) }
        guard bytes.count == kept.count, (try? target.resize(to: first.lowerBound)) != nil else { return }
        try? target.resize(to: size)
        for (place, bytes) in zip(kept, bytes) { try? target.write(bytes, at: place.lowerBound) }
    }
}
