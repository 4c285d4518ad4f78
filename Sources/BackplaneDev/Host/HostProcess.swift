import Backplane
import BackplaneHost
import BackplaneProcesses
import Foundation

/// The application in a process of its own, as the loop sees it.
final class HostProcess: Sendable {
    enum News: Sendable {
        case up(HostChild.Report)
        case ended(ChildProcess.Ending)
        /// One that somebody else has started is not there.
        case unreachable(BackplaneError)
    }
    private let process: ChildProcess

    /// - Parameters:
    ///   - arguments: those of the hidden command.
    ///   - passOn: takes the lines that it prints; without, they go where this process's go.
    init(_ arguments: [String], passOn: (@Sendable (String, _ isError: Bool) -> Void)?, _ news: @escaping @Sendable (News) -> Void) throws(BackplaneError) {
        var outlets = [
            ChildProcess.Outlet(descriptor: HostChild.reports) { line in
                if let report = try? JSONDecoder().decode(HostChild.Report.self, from: Data(line.utf8)) { news(.up(report)) }
            }
        ]
        if let passOn {
            outlets.append(.init(descriptor: STDOUT_FILENO) { passOn($0, false) })
            outlets.append(.init(descriptor: STDERR_FILENO) { passOn($0, true) })
        }
        process = try ChildProcess(nil, [HostChild.command] + arguments, environment: Self.environment, outlets: outlets) { news(.ended($0)) }
    }

    /// Asks it to stop in order; what has not after a while is killed.
    ///
    /// - Parameter isUp: one that is still starting has nothing to lose yet, and may be waiting for what never comes.
    func stop(isUp: Bool) {
        process.send(SIGTERM)
        let process = process
        Thread.detachNewThread {
            sleep(isUp ? Self.patience : Self.patienceAtStart)
            process.send(SIGKILL)
        }
    }

    var id: Int32 { process.id }

    func kill() { process.send(SIGKILL) }

    /// Seconds.
    private static let patience: UInt32 = 10, patienceAtStart: UInt32 = 2
    /// Where it crashes, a person reads where, and not what all of its threads and registers were.
    private static let environment = ["SWIFT_BACKTRACE": "interactive=no,color=no,threads=crashed,registers=none,images=none"]
}
