import Backplane
import BackplaneHost
import Foundation
import Glibc

/// The number of heap allocations of this process, available in a child that preloads `libBenchmarkHeap.so`.
struct HeapCounter: Sendable {
    private typealias Function = @convention(c) () -> UInt64
    private let function: Function
    private static let library = "libBenchmarkHeap.so"

    /// Creates a counter, or returns `nil` if the library is not preloaded.
    init?() {
        guard let symbol = dlsym(nil, "benchmark_heap_allocations") else { return nil }
        function = unsafeBitCast(symbol, to: Function.self)
    }

    var allocations: UInt64 { function() }

    /// Measures one row of a suite in a child with a counter, and returns the median that the child prints.
    static func medianInChild(of row: String, in suite: String, calls: Int) async throws -> Double {
        let library = (RunningExecutable.folder ?? ".") + "/" + library
        guard FileManager.default.fileExists(atPath: library) else {
            throw BackplaneError(
                .pluginNotFound, "the library that counts allocations is missing; build it with `swift build`",
                at: library)
        }
        let (output, errors) = try await run(
            ["bench", suite, "--only", row, "--iterations", "\(calls)", "--json"],
            ProcessInfo.processInfo.environment.merging(["LD_PRELOAD": library]) { $1 })
        struct Printed: Decodable { var name: String, median: Double }
        guard let printed = try? JSONDecoder().decode([Printed].self, from: output),
            let found = printed.first(where: { $0.name == row })
        else {
            throw BackplaneError(
                .componentFailed,
                "the process that counts allocations reported no result: \(String(decoding: errors, as: UTF8.self))",
                at: row)
        }
        return found.median
    }

    /// Runs this program in a child, whose output is too short to fill a pipe.
    private static func run(_ arguments: [String], _ environment: [String: String]) async throws -> (
        output: Data, errors: Data
    ) {
        let process = Process(), output = Pipe(), errors = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        (process.arguments, process.environment) = (arguments, environment)
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return (
            try output.fileHandleForReading.readToEnd() ?? Data(), try errors.fileHandleForReading.readToEnd() ?? Data()
        )
    }
}
