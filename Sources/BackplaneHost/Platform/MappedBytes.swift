import Glibc
import Synchronization

/// Bytes with random access: a mapped file that does not change, or a copy of bytes or parts of a file in memory.
///
/// Only the parts of a mapped file that are accessed are read. If it were truncated in the meantime, an access would
/// crash the process.
package final class MappedBytes: Sendable {
    /// The bytes, which are set once and released with this object.
    private nonisolated(unsafe) let bytes: UnsafeRawBufferPointer  // constant
    private let isMapped: Bool
    /// The count of the bytes that were accessed, for tests.
    private let looked: ByteCount?

    /// A number of bytes, counted while parts of a file are accessed.
    package final class ByteCount: Sendable {
        private let count = Atomic(0)

        package init() {}

        package var value: Int { count.load(ordering: .relaxed) }

        func add(_ count: Int) { self.count.add(count, ordering: .relaxed) }
    }

    init(of file: borrowing FileDescriptor, size: Int) throws(SystemError) {
        guard let address = mmap(nil, max(size, 1), PROT_READ, MAP_PRIVATE, file.number, 0), address != MAP_FAILED
        else { throw .last }
        (bytes, isMapped, looked) = (UnsafeRawBufferPointer(start: address, count: size), true, nil)
    }

    /// Creates zeros in memory, to be replaced by parts of a file; pages that remain zero use no memory.
    init(zeros count: Int) throws(SystemError) {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let address = mmap(nil, max(count, 1), PROT_READ | PROT_WRITE, flags, -1, 0), address != MAP_FAILED
        else { throw .last }
        (bytes, isMapped, looked) = (UnsafeRawBufferPointer(start: address, count: count), true, nil)
    }

    init(copying array: [UInt8], looked: ByteCount? = nil) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 16)
        copy.copyBytes(from: array)
        (bytes, isMapped, self.looked) = (UnsafeRawBufferPointer(copy), false, looked)
    }

    deinit {
        if isMapped {
            munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), max(bytes.count, 1))
        } else {
            bytes.deallocate()
        }
    }

    var count: Int { bytes.count }

    /// Reads a range of a file into the same range of the bytes; bytes beyond the end of the file remain unchanged.
    ///
    /// - Precondition: The bytes were created as zeros and are not shared yet, and `range` lies within them.
    func read(_ range: Range<Int>, of file: borrowing FileDescriptor) throws(SystemError) {
        let target = UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer(rebasing: bytes[range]))
        try file.copyBytes(at: range.lowerBound, into: target)
    }

    /// Calls `look` with the bytes of a range.
    ///
    /// - Precondition: `range` lies within the bytes.
    func withBytes<Value, Failure>(in range: Range<Int>, _ look: (UnsafeRawBufferPointer) throws(Failure) -> Value)
        throws(Failure) -> Value
    {
        looked?.add(range.count)
        return try withExtendedLifetime(self) { () throws(Failure) in
            try look(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}
