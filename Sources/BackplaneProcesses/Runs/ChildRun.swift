package import Backplane
import CBackplaneHost
package import Foundation

/// How one more run of this program ended, which may have crashed or hung: it is killed when it says nothing for as long as its limit.
///
/// It has said all when its output ends with a zero: how it ends then is nobody's business. Processes that it leaves behind end with it,
/// and it ends with this process (``ChildLeash``).
package struct ChildRun: Sendable {
    package enum Ending: Sendable {
        case saidAll, exit(Int32), signal(Int32), overdue
    }
    package let ending: Ending
    /// Without the zero.
    package let output: Data
    /// The last of what it printed on standard error.
    package let errors: String

    private enum Event: Sendable {
        case saidAll, said, closed, ended(Ending), overdue
    }

    /// - Parameter limit: from its start, and then from the last that it said.
    package init(_ arguments: [String], limit: Duration) async throws(BackplaneError) {
        let process = Process(), leash = Pipe(), output = Pipe(), errors = Pipe()
        // What it leaves behind becomes this process's own, and what was that before stays.
        _ = bph_adopt_orphans()
        let others = Descendants()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        // A crash is a result here, and not to be looked into.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (leash, output, errors)
        let (events, event) = AsyncStream.makeStream(of: Event.self)
        process.terminationHandler = { process in
            event.yield(.ended(process.terminationReason == .exit ? .exit(process.terminationStatus) : .signal(process.terminationStatus)))
        }
        do { try process.run() } catch {
            throw BackplaneError(.pluginLoadFailed, "this program cannot be run once more to load the library: \(error)")
        }
        let printed = (output: Printed(last: 64 << 20), errors: Printed(last: 1 << 16))
        printed.output.read(output.fileHandleForReading) { event.yield($0.isEmpty ? .closed : $0.last == 0 ? .saidAll : .said) }
        printed.errors.read(errors.fileHandleForReading) { if $0.isEmpty { event.yield(.closed) } }
        ending = await Self.ending(events) {
            Task {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                event.yield(.overdue)
            }
        }
        Descendants.end(besides: others)
        withExtendedLifetime(leash) {}
        if case .saidAll = ending { self.output = printed.output.data.dropLast() } else { self.output = printed.output.data }
        self.errors = String(decoding: printed.errors.data, as: UTF8.self)
    }

    /// Waits until it has said all, until it and both of its pipes have ended, or until its time is up.
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
