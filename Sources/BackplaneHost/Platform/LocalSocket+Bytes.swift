package import Backplane
import Glibc

extension LocalSocket {
    /// Appends the next bytes, at most `limit`, to `bytes`; returns `false` at the end of the stream.
    ///
    /// - Parameter deadline: The time limit for the wait.
    /// - Throws: `ETIMEDOUT` if nothing arrived.
    package func read(into bytes: inout [UInt8], limit: Int, until deadline: Deadline) throws(SystemError) -> Bool {
        let number = descriptor.number
        while true {
            var result = 0
            // Uninitialised, because `limit` is mostly more than arrives.
            bytes += [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
                result = recv(number, buffer.baseAddress, limit, 0)
                filled = max(result, 0)
            }
            if result >= 0 { return result > 0 }
            try wait(for: POLLIN, until: deadline)
        }
    }

    /// Writes all of `bytes`.
    ///
    /// - Throws: `ETIMEDOUT` if the peer did not accept them in time, or `EPIPE` if it has disconnected.
    package func write(_ bytes: [UInt8], until deadline: Deadline) throws(SystemError) {
        let number = descriptor.number
        var rest = bytes[...]
        while !rest.isEmpty {
            let result = rest.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if result >= 0 { rest = rest.dropFirst(result) } else { try wait(for: POLLOUT, until: deadline) }
        }
    }

    /// Waits, after a call that failed, until it may succeed when repeated.
    private func wait(for event: Int32, until deadline: Deadline) throws(SystemError) {
        if errno == EINTR { return }
        guard errno == EAGAIN || errno == EWOULDBLOCK else { throw .last }
        while true {
            let left = deadline.nanoseconds - Deadline.now.nanoseconds
            guard left > 0 else { throw SystemError(ETIMEDOUT) }
            var entry = pollfd(fd: descriptor.number, events: Int16(event), revents: 0)
            let result = poll(&entry, 1, Int32(clamping: (left + 999_999) / 1_000_000))
            if result > 0 { return }
            if result < 0, errno != EINTR { throw .last }
        }
    }
}
