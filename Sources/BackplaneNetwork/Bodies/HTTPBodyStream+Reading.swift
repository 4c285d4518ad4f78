import Backplane
import Synchronization

extension HTTPBodyStream {
    /// Reads the rest of the body.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Throws: `network.too-large` as soon as there are more, which ends the stream; the errors of reading.
    public func collect(upTo limit: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await chunk in self {
            guard chunk.count <= limit - bytes.count else {
                cancel()
                throw BackplaneError(
                    .networkTooLarge, "the body has more than \(limit) bytes, which is the limit for bodies in memory")
            }
            if bytes.isEmpty { bytes = chunk } else { bytes += chunk }
        }
        return bytes
    }

    /// Writes the rest of the body to a file, which appears once it is complete.
    ///
    /// - Parameter path: The path of the file, which replaces an existing one. Only its owner may read it.
    /// - Returns: The number of bytes.
    /// - Throws: `network.file` if the file cannot be written, which ends the stream; the errors of reading. An
    ///   existing file then remains unchanged.
    @discardableResult
    public func write(to path: String) async throws -> Int64 {
        let file = try IncomingFile(path)
        do {
            for try await chunk in self { try file.write(chunk) }
            return try file.finish()
        } catch {
            cancel()
            file.discard()
            throw error
        }
    }

    /// Returns the stream with an announced length, which the number of its bytes must match.
    ///
    /// The chunk that completes the length is held back until the source has ended. Otherwise a server that has
    /// received all announced bytes would consider a longer body complete, and could respond before the error.
    func checked(length: Int64) -> HTTPBodyStream {
        let count = Mutex<Int64>(0), source = self
        return HTTPBodyStream(length: length, cancel: cancel) {
            let chunk = try await source.next()
            let total = count.withLock { count in
                count += Int64(chunk?.count ?? 0)
                return count
            }
            guard let chunk else {
                guard total == length else { throw BackplaneError.wrongLength(length, "only \(total)") }
                return .end(trailers: source.trailers)
            }
            if total >= length {
                let rest = total == length ? try await source.next() : chunk
                guard rest == nil else { throw BackplaneError.wrongLength(length, "more") }
            }
            return .bytes(chunk)
        }
    }
}

extension BackplaneError {
    fileprivate static func wrongLength(_ length: Int64, _ found: String) -> BackplaneError {
        BackplaneError(.networkBody, "the request's body was announced with \(length) bytes, but has \(found)")
    }
}
