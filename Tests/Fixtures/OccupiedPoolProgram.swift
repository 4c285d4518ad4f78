package import BackplaneTestKit
import Foundation
package import Testing

/// The host program `occupied-pool`, whose plugin keeps every thread of Swift's pool, as a process.
package enum OccupiedPoolProgram {
    /// Is it watched by ThreadSanitizer or AddressSanitizer?
    package static let isSanitized = isThreadSanitized || dlsym(nil, "__asan_init") != nil
    package static let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
    package static let sanitized: Comment = "sanitizers have threads and delays of their own"

    /// The lines that it prints.
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
