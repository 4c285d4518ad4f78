import FoundationEssentials
import Glibc
import Synchronization

/// The beginning of the body of a failed response.
struct KeptBody {
    private(set) var bytes: [UInt8] = []
    /// A Boolean value that indicates whether ``bytes`` are the whole body.
    private(set) var isWhole = false

    /// Reads the beginning of a streamed body for at most five seconds; an early end is not an error.
    init(of body: HTTPBodyStream, upTo limit: Int) async {
        defer { if !isWhole { body.cancel() } }
        guard limit > 0 else { return }
        let taken = Mutex<[UInt8]>([])
        let isRead = try? await Race.run(
            {
                for try await chunk in body {
                    let count = taken.withLock { taken in
                        taken += chunk.prefix(limit - taken.count + 1)
                        return taken.count
                    }
                    if count > limit { return false }
                }
                return true
            }, within: .seconds(5), otherwise: CancellationError())
        isWhole = isRead ?? false
        bytes = Array(taken.withLock { $0 }.prefix(limit))
    }

    /// Reads the beginning of a body that was written to a file.
    init(ofFile path: String, upTo limit: Int) {
        guard limit > 0 else { return }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, limit))
        }
        isWhole = lseek(file, 0, SEEK_END) == bytes.count
    }

    /// Creates the beginning of a body in memory.
    init(_ body: [UInt8], upTo limit: Int) {
        (bytes, isWhole) = (Array(body.prefix(max(0, limit))), body.count <= limit)
    }
}
