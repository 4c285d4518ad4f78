import Backplane
import Foundation

/// How one more run of this program ended, which may have crashed or hung: it is killed at its time limit.
///
/// It has said all when its output ends with a zero: how it ends then is nobody's business, nor are processes that it leaves
/// behind with its pipes.
struct ChildRun: Sendable {
    enum Ending: Sendable {
        case saidAll, exit(Int32), signal(Int32), overdue
    }
    let ending: Ending
    /// Without the zero.
    let output: Data
    /// The last of what it printed on standard error.
    let errors: String

    private enum Event: Sendable {
        case saidAll, closed, ended(Ending), overdue
    }

    init(_ arguments: [String], limit: Duration) async throws(BackplaneError) {
        let process = Process(), output = Pipe(), errors = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        // A crash is a result here, and not to be looked into.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, errors)
        let (events, event) = AsyncStream.makeStream(of: Event.self)
        process.terminationHandler = { process in
            event.yield(.ended(process.terminationReason == .exit ? .exit(process.terminationStatus) : .signal(process.terminationStatus)))
        }
        do { try process.run() } catch {
            throw BackplaneError(.pluginLoadFailed, "this program cannot be run once more to load the library: \(error)")
        }
        let printed = (output: Printed(last: 64 << 20), errors: Printed(last: 1 << 16))
        printed.output.read(output.fileHandleForReading) { event.yield($0.last == 0 ? .saidAll : .closed) }
        printed.errors.read(errors.fileHandleForReading) { if $0.isEmpty { event.yield(.closed) } }
        let timer = Task {
            try? await Task.sleep(for: limit)
            event.yield(.overdue)
        }
        ending = await Self.ending(events)
        timer.cancel()
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        if case .saidAll = ending { self.output = printed.output.data.dropLast() } else { self.output = printed.output.data }
        self.errors = String(decoding: printed.errors.data, as: UTF8.self)
    }

    /// Waits until it has said all, until it and both of its pipes have ended, or until its time is up.
    private static func ending(_ events: AsyncStream<Event>) async -> Ending {
        var ending: Ending?, openPipes = 2
        for await event in events {
            switch event {
            case .saidAll: return .saidAll
            case .overdue: return ending ?? .overdue
            case .closed: openPipes -= 1
            case .ended(let how): ending = how
            }
            if let ending, openPipes == 0 { return ending }
        }
        return ending ?? .overdue
    }
}
