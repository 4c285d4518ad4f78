import Glibc

/// Reading and writing where the caller says, whatever was read or written before.
extension FileDescriptor {
    /// The bytes at `range`; fewer only where the file ends before.
    borrowing func bytes(in range: Range<Int>) throws(SystemError) -> [UInt8] {
        var problem: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            do throws(SystemError) { filled = try fill(UnsafeMutableRawBufferPointer(buffer), from: range.lowerBound) } catch { problem = error }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Writes all of `bytes` to where `offset` is in the file.
    borrowing func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var problem: SystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { try write(bytes, at: offset) } catch { problem = error }
        }
        if let problem { throw problem }
    }

    /// Copies what stands at `range` to the same place in `target`, through memory that the processor keeps at hand.
    ///
    /// - Returns: `false`: the file ends before.
    borrowing func copy(_ range: Range<Int>, to target: borrowing FileDescriptor) throws(SystemError) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(range.count, Self.pieceSize), alignment: 16)
        defer { buffer.deallocate() }
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceSize) {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(Self.pieceSize, range.upperBound - start)])
            guard try fill(piece, from: start) == piece.count else { return false }
            try target.write(UnsafeRawBufferPointer(piece), at: start)
        }
        return true
    }

    /// In bytes: less than what `malloc` asks the system for anew each time.
    private static var pieceSize: Int { 1 << 16 }

    /// Cuts the file off, or adds zeros that take no room.
    borrowing func resize(to size: Int) throws(SystemError) {
        let number = number
        try retryingInterrupted { ftruncate(number, size) }
    }

    private borrowing func fill(_ bytes: UnsafeMutableRawBufferPointer, from offset: Int) throws(SystemError) -> Int {
        let number = number
        var filled = 0
        while filled < bytes.count {
            let count = try retryingInterrupted { pread(number, bytes.baseAddress! + filled, bytes.count - filled, offset + filled) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    private borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
        let number = number
        var written = 0
        while written < bytes.count {
            written += try retryingInterrupted { pwrite(number, bytes.baseAddress! + written, bytes.count - written, offset + written) }
        }
    }
}
