import Backplane
import BackplaneHost
import Foundation

/// The child process that runs the application.
final class HostProcess: Sendable {
    enum News: Sendable {
        case up(HostChild.Report)
        case ended(ChildProcess.Ending)
        /// A host that was not started by this command cannot be found.
        case unreachable(BackplaneError)
    }
    private let process: ChildProcess

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the hidden command.
    ///   - passOn: A function that receives the lines that the process prints; if `nil`, they go to the outputs of this
    ///     process.
    init(
        _ arguments: [String], passOn: (@Sendable (String, _ isError: Bool) -> Void)?,
        _ news: @escaping @Sendable (News) -> Void
    ) throws(BackplaneError) {
        var outlets = [
            ChildProcess.Outlet(descriptor: HostChild.reports) { line in
                if let report = try? JSONDecoder().decode(HostChild.Report.self, from: Data(line.utf8)) {
                    news(.up(report))
                }
            }
        ]
        if let passOn {
            outlets.append(.init(descriptor: STDOUT_FILENO) { passOn($0, false) })
            outlets.append(.init(descriptor: STDERR_FILENO) { passOn($0, true) })
        }
        process = try ChildProcess(
            nil, [HostChild.command] + arguments, environment: Self.environment, outlets: outlets
        ) { news(.ended($0)) }
    }

    /// Asks the process to stop gracefully, and kills it if it has not stopped after a while.
    ///
    /// - Parameter isUp: A Boolean value that indicates whether the start is complete; before that, there is nothing to
    ///   lose, and the wait is shorter.
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

    /// The time within which the process must stop, in seconds.
    private static let patience: UInt32 = 10, patienceAtStart: UInt32 = 2
    // In the event of a crash, report the crashed thread without registers and images.
    private static let environment = [
        "SWIFT_BACKTRACE": "interactive=no,color=no,threads=crashed,registers=none,images=none"
    ]
}
