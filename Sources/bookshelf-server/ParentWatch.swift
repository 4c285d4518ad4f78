#if Engines
import Foundation
import Glibc
import ServiceLifecycle

/// A service that ends with standard input, whose other end is held by the process that started the server.
struct ParentWatch: Service {
    func run() async throws {
        let (input, continuation) = AsyncStream.makeStream(of: Never.self)
        // Reading blocks, so it has a thread of its own, which lives until the process exits.
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { break }
            }
            continuation.finish()
        }
        for await _ in input.cancelOnGracefulShutdown() {}
    }
}
#endif
