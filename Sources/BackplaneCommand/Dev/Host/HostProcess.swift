import Backplane
import BackplaneHost
import Foundation

/// The application in a process of its own, as the loop sees it.
final class HostProcess: Sendable {
    enum News: Sendable {
        case up(HostChild.Report)
        /// The application has printed a line, on its standard output or its standard error.
        case line(String, isError: Bool)
        case ended(ChildProcess.Ending)
        /// One that somebody else has started is not there.
        case unreachable(BackplaneError)
    }
    private let process: ChildProcess

    /// - Parameters:
    ///   - arguments: those of the hidden command.
    ///   - passesOutputOn: its lines are news; otherwise they go where this process's go.
    init(_ arguments: [String], passesOutputOn: Bool, _ news: @escaping @Sendable (News) -> Void) throws(BackplaneError) {
        var outlets = [
            ChildProcess.Outlet(descriptor: HostChild.reports) { line in
                if let report = try? JSONDecoder().decode(HostChild.Report.self, from: Data(line.utf8)) { news(.up(report)) }
            }
        ]
        if passesOutputOn {
            outlets.append(.init(descriptor: STDOUT_FILENO) { news(.line($0, isError: false)) })
            outlets.append(.init(descriptor: STDERR_FILENO) { news(.line($0, isError: true)) })
        }
        process = try ChildProcess("/proc/self/exe", [HostChild.command] + arguments, outlets: outlets) { news(.ended($0)) }
    }

    /// Asks it to stop in order; what has not after a while is killed.
    func stop() {
        process.send(SIGTERM)
        let process = process
        Thread.detachNewThread {
            sleep(Self.patience)
            process.send(SIGKILL)
        }
    }

    /// Seconds.
    private static let patience: UInt32 = 10
}

extension HostSettings {
    /// The options of the hidden command that makes the same host.
    var arguments: [String] {
        let options: [(String, String?)] = [("--environment", environment), ("--load-folder", loadFolder), ("--data", data), ("--log-level", logLevel.map { "\($0)" })]
        return options.flatMap { name, value in value.map { ["\(name)=\($0)"] } ?? [] } + pluginPaths.map { "--plugin-path=\($0)" } + ["--", manifest]
    }
}
