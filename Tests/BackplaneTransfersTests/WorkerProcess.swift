import Foundation
import Glibc
import TestFixtures
import Testing

/// A process of `transfer-worker`, which is beside the tests.
final class WorkerProcess {
    private let process = Process()
    private let output = Pipe()
    /// What it has printed so far.
    private(set) var text = ""

    convenience init(_ arguments: String...) throws { try self.init(arguments) }

    init(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: BuiltProducts.folder + "/transfer-worker")
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, output)
        try process.run()
    }

    deinit { kill() }

    /// Waits for more output; `false` at its end.
    func read() -> Bool {
        let data = output.fileHandleForReading.availableData
        text += String(decoding: data, as: UTF8.self)
        return !data.isEmpty
    }

    /// Reads to the end of the output, and waits for that of the process.
    func end() {
        while read() {}
        process.waitUntilExit()
    }

    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        end()
    }
}
