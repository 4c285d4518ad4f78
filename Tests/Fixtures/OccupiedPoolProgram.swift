package import BackplaneTestKit
import Foundation
package import Testing

/// The host program `occupied-pool` as a process; its plugin occupies every thread of Swift's pool.
package enum OccupiedPoolProgram {
    /// A Boolean value that indicates whether ThreadSanitizer or AddressSanitizer is in use.
    package static let isSanitized = isThreadSanitized || dlsym(nil, "__asan_init") != nil
    package static let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
    package static let sanitized: Comment = "sanitizers have threads and delays of their own"

    /// Returns the lines that the program prints.
    package static func lines(_ arguments: [String], in folder: TestFolder) async throws -> [String] {
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: BuiltProducts.folder + "/occupied-pool")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging([
            "XDG_RUNTIME_DIR": folder.path, "XDG_CACHE_HOME": folder.path,
        ]) { $1 }
        process.standardOutput = output
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationStatus) }
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        for await status in ends {
            #expect(status == 0, "the log never said that the pool was occupied")
            break
        }
        return String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).split(separator: "\n").map(
            String.init)
    }
}
