import Foundation
import Synchronization

@testable import BackplaneDev

/// The thread of a watch, which waits in its first report until it is let go on.
final class WatchThread: Sendable {
    /// Lives as long as what the thread calls.
    private final class Presence: Sendable {
        let ended: DispatchSemaphore
        init(_ ended: DispatchSemaphore) { self.ended = ended }
        deinit { ended.signal() }
    }
    private let reported = DispatchSemaphore(value: 0), mayGoOn = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
    private let state = Mutex((reports: 0, status: ""))

    func watch(_ folder: String, then report: @escaping @Sendable (WatchedChanges) -> Void = { _ in }) throws -> TreeWatch {
        let presence = Presence(ended)
        return try TreeWatch([.recursive(folder)], quiet: .milliseconds(1)) { [reported, mayGoOn, self] changes in
            withExtendedLifetime(presence) {
                let isFirst = state.withLock { state in
                    state.reports += 1
                    state.status = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")).map { "/proc/\($0)/status" } ?? ""
                    return state.reports == 1
                }
                if isFirst {
                    reported.signal()
                    mayGoOn.wait()
                }
                report(changes)
            }
        }
    }

    var reports: Int { state.withLock(\.reports) }

    /// How often the thread has gone to sleep; `nil`: the system does not say.
    var sleeps: Int? {
        let lines = (try? String(contentsOfFile: state.withLock(\.status), encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }.flatMap { Int($0.split(separator: "\t").last ?? "") }
    }

    func goOn() { mayGoOn.signal() }

    /// `false`: not within a minute.
    func waitForReport() -> Bool { reported.wait(timeout: .now() + 60) == .success }
    func waitForEnd() -> Bool { ended.wait(timeout: .now() + 60) == .success }
}
