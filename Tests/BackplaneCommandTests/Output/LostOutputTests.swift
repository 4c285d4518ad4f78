import Foundation
import Glibc
import TestFixtures
import Testing

@testable import BackplaneTools

/// Output that does not arrive.
@Suite(.timeLimit(.minutes(5)))
struct LostOutputTests {
    private func run(_ arguments: [String], to output: FileHandle) throws -> (status: Int32, errors: String) {
        let process = Process(), errors = Pipe()
        process.executableURL = URL(filePath: BuiltProducts.folder + "/backplane")
        process.arguments = arguments
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, errors)
        try process.run()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            String(decoding: said, as: UTF8.self)
        )
    }

    @Test(arguments: [
        ["convert", Tool.almanac], ["check", Tool.almanac], ["check", Tool.almanac, "--json"], ["names", Tool.almanac],
        ["graph", Tool.almanac],
        ["call", Tool.almanac, "ClockManager", "now"],
    ])
    func `a full disk is no success, and is said once`(arguments: [String]) throws {
        let full = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
        let outcome = try run(arguments, to: full)
        #expect(outcome.status == 1)
        // Without the warnings of a busy machine.
        let errors = outcome.errors.split(separator: "\n").filter { !$0.contains("Swift's thread pool is ") }
        #expect(errors == ["backplane: the output cannot be written: No space left on device"])
    }

    @Test func `output to a slow reader arrives completely`() throws {
        let pipe = Pipe(), writer = pipe.fileHandleForWriting
        let descriptor = writer.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        Thread.detachNewThread {
            Output.write(bytes: bytes, to: descriptor)
            try? writer.close()
        }
        #expect(try pipe.fileHandleForReading.readToEnd().map(Array.init) == bytes)
    }
}
