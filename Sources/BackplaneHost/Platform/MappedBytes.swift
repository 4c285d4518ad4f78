import Glibc

/// Bytes with random access: a mapped file that does not change, or a copy of bytes or parts of a file in memory.
///
/// Only the parts of a mapped file that are accessed are read. If it were truncated meanwhile, an access would end the
/// process.
package final class MappedBytes: Sendable {
    /// The bytes, which are set once and released with this object.
    private nonisolated(unsafe) let bytes: UnsafeRawBufferPointer  // constant
    private let isMapped: Bool

    init(of file: borrowing FileDescriptor, size: Int) throws(SystemError) {
        guard let address = mmap(nil, max(size, 1), PROT_READ, MAP_PRIVATE, file.number, 0), address != MAP_FAILED
        else { throw .last }
        (bytes, isMapped) = (UnsafeRawBufferPointer(start: address, count: size), true)
    }

    /// Creates zeros in memory, to be replaced by parts of a file; pages that stay zero take no memory.
    init(zeros count: Int) throws(SystemError) {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let address = mmap(nil, max(count, 1), PROT_READ | PROT_WRITE, flags, -1, 0), address != MAP_FAILED
        else { throw .last }
        (bytes, isMapped) = (UnsafeRawBufferPointer(start: address, count: count), true)
    }

    init(copying array: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 16)
        copy.copyBytes(from: array)
        (bytes, isMapped) = (UnsafeRawBufferPointer(copy), false)
    }

    deinit {
        if isMapped {
            munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), max(bytes.count, 1))
        } else {
            bytes.deallocate()
        }
    }

    var count: Int { bytes.count }

    /// Reads a range of a file into the same range of the bytes; beyond the end of the file they stay as they are.
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
        try withExtendedLifetime(self) { () throws(Failure) in try look(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}
