import Foundation
import TestFixtures
import Testing

/// The program `litmus`, which tries the leases of lease.h with threads on real processors.
///
/// In a process of its own: the barriers of other tests' hosts would do for it what it leaves out.
enum LitmusProgram {
    struct Outcome: Sendable {
        var flips, calls, violations: Int
    }

    /// Runs it for so many seconds; cancels the test, with its reason, where it cannot run.
    ///
    /// - Parameter environment: what it finds there besides this program's own.
    static func run(_ arguments: [String], seconds: Int, environment: [String: String] = [:]) async throws -> Outcome {
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: BuiltProducts.folder + "/litmus")
        process.arguments = [arguments[0], "\(seconds)"] + arguments.dropFirst()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            end.yield($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus)
        }
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        var status: Int32?
        for await ended in ends {
            status = ended
            break
        }
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        if text.hasPrefix("skipped") { try Test.cancel("\(text)") }
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(
            status == 0 && numbers.count == 3, "it ended with \(status.map(String.init) ?? "nothing") and said: \(text)"
        )
        return Outcome(flips: numbers[0], calls: numbers[1], violations: numbers[2])
    }
}

/// How long stresses last: a second, or what `BACKPLANE_STRESS_SECONDS` says.
enum StressTime {
    static let given = ProcessInfo.processInfo.environment["BACKPLANE_STRESS_SECONDS"].flatMap(Int.init)
    static var isGiven: Bool { given != nil }
    static var seconds: Int { given ?? 1 }
}
