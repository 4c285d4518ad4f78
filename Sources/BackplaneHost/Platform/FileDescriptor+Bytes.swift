import Backplane
import Glibc

extension FileDescriptor {
    /// Copies everything from the current position into `target` in chunks, and returns the number of bytes.
    ///
    /// Copying stops after more than `limit` bytes, so that a file that grows while it is read does not fill the disk.
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

    /// Returns the next `count` bytes, or fewer if the file ends earlier.
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

    /// Returns the next `count` bytes of a pipe that was opened without blocking, or fewer if it ends earlier.
    ///
    /// - Parameters:
    ///   - patience: The time to wait for the first bytes, and again for each of the next ones.
    ///   - limit: The time to wait altogether.
    /// - Throws: `ETIMEDOUT`.
    package borrowing func bytesOfPipe(count: Int, patience: Duration, limit: Duration) throws(SystemError) -> [UInt8] {
        let number = number, end = Deadline.now + limit
        var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < count {
            // A pipe without a writer looks as if it had ended, until one has been there.
            let left = min(Deadline.now + patience, end).nanoseconds - Deadline.now.nanoseconds
            var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            let ready = try retryingInterrupted { poll(&entry, 1, Int32(clamping: max(0, left) / 1_000_000)) }
            guard ready > 0 else { throw SystemError(ETIMEDOUT) }
            let size = min(chunk.count, count - bytes.count)
            let read = chunk.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, size) }
            if read == 0 { return bytes }
            if read > 0 { bytes += chunk[..<read] } else if errno != EAGAIN, errno != EINTR { throw .last }
        }
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

    /// Copies bytes of the file, starting at an offset, until `bytes` is full or the file ends.
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
