import Glibc

extension FileDescriptor {
    /// Copies everything from the current position into `target` in chunks, and returns the number of bytes.
    ///
    /// It stops once it has copied more than `limit` bytes, so that a file that grows while it is read does not fill
    /// the disk.
    package borrowing func copy(to target: borrowing FileDescriptor, limit: Int) throws(SystemError) -> Int {
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        var total = 0
        while true {
            let count = try chunk.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
                try fill(UnsafeMutableRawBufferPointer(buffer))
            }
            try target.write(chunk.prefix(count))
            total += count
            if count < chunk.count || total > limit { return total }
        }
    }

    /// Returns the next `count` bytes, or fewer if the file ends before.
    package borrowing func bytes(count: Int) throws(SystemError) -> [UInt8] {
        var problem: SystemError?
        // Uninitialised, because `count` may be far more than the file contains.
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) { filled = try fill(UnsafeMutableRawBufferPointer(buffer)) } catch {
                problem = error
            }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Writes all of `bytes`.
    borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) {
        let number = number
        var rest = bytes
        while !rest.isEmpty {
            rest = try rest.dropFirst(
                retryingInterrupted { rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) } })
        }
    }

    /// Copies bytes of the file from an offset on until `bytes` is full or the file ends.
    borrowing func copyBytes(at offset: Int, into bytes: UnsafeMutableRawBufferPointer) throws(SystemError) {
        let number = number
        var filled = 0
        while filled < bytes.count {
            let count = try retryingInterrupted {
                pread(number, bytes.baseAddress! + filled, bytes.count - filled, off_t(offset + filled))
            }
            if count == 0 { break }
            filled += count
        }
    }

    /// Reads until `bytes` is full or the file ends, and returns the number of bytes read.
    private borrowing func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        let number = number
        var filled = 0
        while filled < bytes.count {
            let count = try retryingInterrupted { read(number, bytes.baseAddress! + filled, bytes.count - filled) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
