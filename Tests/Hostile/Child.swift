import Foundation
import Synchronization

/// A process of its own, which is killed when its time is up.
enum Child {
    enum Ending: Sendable, Equatable {
        case exit(Int32), signal(Int32), overdue
    }
    struct Outcome: Sendable {
        let ending: Ending
        let output, errors: String
    }

    /// - Parameter limit: in seconds.
    static func run(_ program: String, _ arguments: [String], limit: Double) -> Outcome {
        let folder = NSTemporaryDirectory() + "hostile-\(UUID().uuidString)"
        let process = Process(), isOverdue = Mutex(false), ended = DispatchSemaphore(value: 0)
        let files = [folder + ".out", folder + ".err"]
        for file in files { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle(forWritingAtPath: files[0]), FileHandle(forWritingAtPath: files[1]))
        process.terminationHandler = { _ in ended.signal() }
        do { try process.run() } catch { return Outcome(ending: .exit(127), output: "", errors: "\(error)") }
        if ended.wait(timeout: .now() + limit) == .timedOut {
            isOverdue.withLock { $0 = true }
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }
        let ending: Ending = isOverdue.withLock { $0 }
            ? .overdue : process.terminationReason == .exit ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
        return Outcome(ending: ending, output: text(files[0]), errors: text(files[1]))
    }

    private static func text(_ path: String) -> String { String(decoding: contents(of: path), as: UTF8.self) }
}
