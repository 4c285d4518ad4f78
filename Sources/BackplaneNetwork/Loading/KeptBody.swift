import FoundationEssentials
import Glibc

/// The beginning of the body of a failed response.
struct KeptBody {
    private(set) var bytes: [UInt8] = []
    /// A Boolean value that indicates whether ``bytes`` are the whole body.
    private(set) var isWhole = false

    /// Reads the beginning of a body that streams; what ends it early is no error.
    init(of body: HTTPBodyStream, upTo limit: Int) async {
        defer { if !isWhole { body.cancel() } }
        guard limit > 0 else { return }
        do {
            for try await chunk in body {
                bytes += chunk.prefix(limit - bytes.count + 1)
                if bytes.count > limit {
                    bytes.removeLast()
                    return
                }
            }
            isWhole = true
        } catch {}
    }

    /// Reads the beginning of a body that was written to a file.
    init(ofFile path: String, upTo limit: Int) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0, limit > 0 else { return }
        defer { close(file) }
        bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, limit))
        }
        isWhole = lseek(file, 0, SEEK_END) == bytes.count
    }

    /// Takes the beginning of a body in memory.
    init(_ body: [UInt8], upTo limit: Int) {
        (bytes, isWhole) = (Array(body.prefix(max(0, limit))), body.count <= limit)
    }
}
