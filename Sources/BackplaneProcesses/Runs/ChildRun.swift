package import Backplane
import CBackplaneHost
package import Foundation

/// The result of running this program once more, as a child that may crash or hang.
///
/// The child is killed when it produces no output for longer than its limit. Its output is complete when it ends with a
/// zero byte, and how the child ends is then ignored. Processes that it leaves behind are killed with it, and the child
/// ends with this process (``ChildLifetime``).
package struct ChildRun: Sendable {
    package enum Ending: Sendable {
        case saidAll, exit(Int32), signal(Int32), overdue
    }
    package let ending: Ending
    /// The standard output, without the zero byte.
    package let output: Data
    /// The end of the standard error output.
    package let errors: String

    private enum Event: Sendable {
        case saidAll, said, closed, ended(Ending), overdue
    }

    /// Runs the program until its output is complete or it has ended.
    ///
    /// - Parameter limit: The time that may pass before the first output, and between one output and the next.
    package init(_ arguments: [String], limit: Duration) async throws(BackplaneError) {
        let process = Process(), parentEnd = Pipe(), output = Pipe(), errors = Pipe()
        // Processes that the child leaves behind become this process's children; its earlier descendants must survive.
        _ = bph_adopt_orphans()
        let others = Descendants()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        // A crash is an expected result, for which no backtrace is needed.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (parentEnd, output, errors)
        let (events, event) = AsyncStream.makeStream(of: Event.self)
        process.terminationHandler = { process in
            event.yield(
                .ended(
                    process.terminationReason == .exit
                        ? .exit(process.terminationStatus) : .signal(process.terminationStatus)))
        }
        do { try process.run() } catch {
            throw BackplaneError(
                .pluginLoadFailed, "this program cannot be started a second time to load the library: \(error)")
        }
        let printed = (output: OutputTail(last: 64 << 20), errors: OutputTail(last: 1 << 16))
        printed.output.read(output.fileHandleForReading) {
            event.yield($0.isEmpty ? .closed : $0.last == 0 ? .saidAll : .said)
        }
        printed.errors.read(errors.fileHandleForReading) { if $0.isEmpty { event.yield(.closed) } }
        ending = await Self.ending(events) {
            Task {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                event.yield(.overdue)
            }
        }
        Descendants.end(besides: others)
        withExtendedLifetime(parentEnd) {}
        if case .saidAll = ending {
            self.output = printed.output.data.dropLast()
        } else {
            self.output = printed.output.data
        }
        self.errors = String(decoding: printed.errors.data, as: UTF8.self)
    }

    /// Waits until the output is complete, the child and both pipes have ended, or the limit has passed.
    private static func ending(_ events: AsyncStream<Event>, _ startTimer: () -> Task<Void, Never>) async -> Ending {
        var ending: Ending?, openPipes = 2, timer = startTimer()
        defer { timer.cancel() }
        for await event in events {
            switch event {
            case .saidAll: return .saidAll
            case .said:
                timer.cancel()
                timer = startTimer()
            case .overdue: return ending ?? .overdue
            case .closed: openPipes -= 1
            case .ended(let how): ending = how
            }
            if let ending, openPipes == 0 { return ending }
        }
        return ending ?? .overdue
    }
}
