import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools
import Foundation

/// A `backplane dev` in a child process, with its application; both end with this process.
final class DevRun: Sendable {
    private let process: ChildProcess
    private let news = Monitor(News())

    private struct News {
        var application: Application?
        var lines: [String] = []
        /// The number of events of each name.
        var counts: [String: Int] = [:]
        var isOver = false
        /// The time of the first line in which the application names the plugin of a crash, and the line.
        var lastWords: (time: ContinuousClock.Instant, line: String)?
    }

    private struct Started: Decodable {
        var event: String
    }

    /// The required part of the event `hostStarted`.
    private struct Application: Decodable {
        var process: Int32
        var control: String
    }

    /// Starts `backplane dev` and returns once the application is ready.
    ///
    /// - Parameter arguments: The arguments of the command.
    /// - Throws: `component.failed` with the last lines of output if the application does not start within ten minutes.
    init(_ arguments: [String]) throws(BackplaneError) {
        let news = news
        process = try ChildProcess(
            nil, ["dev", "--json"] + arguments,
            outlets: [
                .init(descriptor: STDOUT_FILENO) { line in
                    if line.contains("backplane: signal "), line.contains(" ends this process") {
                        let time = ContinuousClock.now
                        news.withLock { if $0.lastWords == nil { $0.lastWords = (time, line) } }
                    }
                    let data = Data(line.utf8)
                    guard let started = try? JSONDecoder().decode(Started.self, from: data) else { return }
                    news.withLock { news in
                        news.lines = news.lines.suffix(19) + [line]
                        news.counts[started.event, default: 0] += 1
                        if started.event == "hostStarted" {
                            news.application = try? JSONDecoder().decode(Application.self, from: data)
                        }
                    }
                }
            ]
        ) { _ in news.withLock { $0.isOver = true } }
        let deadline = Deadline.now + .seconds(600)
        let application: Application? = news.wait { news in
            if news.application != nil || news.isOver || Deadline.now > deadline { return .done(news.application) }
            return .until(deadline)
        }
        guard application != nil else {
            stop()
            let causes = news.withLock { $0.lines }.map { BackplaneError(.componentFailed, $0) }
            throw BackplaneError(
                .componentFailed, "`backplane dev` did not start an application", causes: causes)
        }
    }

    var id: pid_t { process.id }
    /// The process identifiers of `backplane dev` and of its application.
    var ids: [pid_t] { [process.id] + (news.withLock { $0.application.map { [$0.process] } } ?? []) }

    /// A client of the application's control socket.
    var client: ControlClient { ControlClient(news.withLock { $0.application?.control ?? "" }) }

    /// Returns the number of events with the given name.
    func heard(_ event: String) -> Int { news.withLock { $0.counts[event] ?? 0 } }

    /// Waits up to 30 s until there are more than `count` events of a name, and returns whether there are.
    func hears(_ event: String, after count: Int) -> Bool {
        let deadline = Deadline.now + .seconds(30)
        return news.wait { news in
            if news.counts[event] ?? 0 > count { return .done(true) }
            return news.isOver || Deadline.now > deadline ? .done(false) : .until(deadline)
        }
    }

    /// Waits up to 30 s for the line that names the plugin of a crash, and returns its time and the event with it.
    func lastWords() -> (time: ContinuousClock.Instant, line: String)? {
        let deadline = Deadline.now + .seconds(30)
        return news.wait { news in
            if news.lastWords != nil || news.isOver || Deadline.now > deadline { return .done(news.lastWords) }
            return .until(deadline)
        }
    }

    /// Asks `backplane dev` to stop, and kills it if it has not stopped after 20 s.
    func stop() {
        process.send(SIGTERM)
        let deadline = Deadline.now + .seconds(20)
        let isOver: Bool = news.wait { news in
            news.isOver || Deadline.now > deadline ? .done(news.isOver) : .until(deadline)
        }
        if !isOver { process.send(SIGKILL) }
    }
}
