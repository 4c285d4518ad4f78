import Glibc

/// Bytes to look up here and there: those of a file that nobody changes, or a copy of bytes at hand.
///
/// A file is mapped, so that only what is looked at is read. Were it cut off meanwhile, looking would end the process.
package final class MappedBytes: Sendable {
    /// Written once, and given back with this object.
    private nonisolated(unsafe) let bytes: UnsafeRawBufferPointer       // constant
    private let isMapped: Bool

    init(of file: borrowing FileDescriptor, size: Int) throws(SystemError) {
        guard let address = mmap(nil, max(size, 1), PROT_READ, MAP_PRIVATE, file.number, 0), address != MAP_FAILED else { throw .last }
        (bytes, isMapped) = (UnsafeRawBufferPointer(start: address, count: size), true)
    }

    init(copying array: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 16)
        copy.copyBytes(from: array)
        (bytes, isMapped) = (UnsafeRawBufferPointer(copy), false)
    }

    deinit {
        if isMapped { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), max(bytes.count, 1)) } else { bytes.deallocate() }
    }

    var count: Int { bytes.count }

    /// Looks at a stretch of them.
    ///
    /// - Precondition: it lies within them.
    func withBytes<Value, Failure>(in range: Range<Int>, _ look: (UnsafeRawBufferPointer) throws(Failure) -> Value) throws(Failure) -> Value {
        try withExtendedLifetime(self) { () throws(Failure) in try look(UnsafeRawBufferPointer(rebasing: bytes[range])) }
    }
}
