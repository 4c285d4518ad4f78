import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneProcesses
import BackplaneTerminal
import Glibc

extension HostChoice {
    /// Sends a message to the chosen host and returns the exit code; prints errors on standard error.
    ///
    /// - Parameters:
    ///   - doing: The text of the progress line.
    ///   - interrupted: A remark that is printed when control-C ends this command but not the host's work.
    ///   - use: A function that prints the answer and returns the exit code.
    func ask<Message: ControlMessage>(
        _ message: Message, doing: String = "waiting for the host", interrupted: String? = nil,
        _ use: (Message.Answer, RunningHost) -> Int32
    ) -> Int32 {
        converse(doing: doing, interrupted: interrupted) { conversation throws(BackplaneError) in
            use(try conversation.answer(to: message), conversation.host)
        }
    }

    /// Sends messages to the chosen host and returns the exit code; prints errors on standard error.
    ///
    /// - Parameters:
    ///   - doing: The text of the progress line.
    ///   - interrupted: A remark that is printed when control-C ends this command but not the host's work.
    ///   - talk: A function that sends the messages, prints the answers and returns the exit code.
    func converse(
        doing: String, interrupted: String? = nil, _ talk: (Conversation) throws(BackplaneError) -> Int32
    ) -> Int32 {
        let host: RunningHost
        do { host = try self.host(here: ManifestChoice.here) } catch { return error.report() }
        do throws(BackplaneError) {
            let signals = try StopSignals(),
                interruption = Task {
                    guard await signals.next() != nil else { return }
                    ProgressLine().clear()
                    if let interrupted { Output.remark("backplane: \(interrupted)") }
                    _exit(130)
                }
            defer { interruption.cancel() }
            return try talk(Conversation(host: host, doing: doing))
        } catch {
            return Output.fail(error)
        }
    }

    /// A series of messages to a running host, with a progress line while it answers.
    struct Conversation {
        let host: RunningHost
        let doing: String

        /// Sends a message and returns the answer.
        ///
        /// - Parameters:
        ///   - limit: The time to wait, or `nil` for no limit.
        ///   - element: A function called with each element of a lasting answer, as JSON.
        ///   - event: A function that receives the host's reports, or `nil` to show them in the progress line.
        func answer<Message: ControlMessage>(
            to message: Message, within limit: Duration? = nil, element: (String) -> Void = { _ in },
            event: ((ControlEvent) -> Void)? = nil
        ) throws(BackplaneError) -> Message.Answer {
            let progress = AnswerProgress(doing)
            defer { progress.clear() }
            return try withoutActuallyEscaping(element) { element throws(BackplaneError) in
                try host.client.ask(
                    message, within: limit,
                    ControlClient.Watch(
                        report: { report in
                            guard let event else { return progress.report(report) }
                            progress.clear()
                            event(report)
                        },
                        element: {
                            progress.end()
                            element($0)
                        }, tick: progress.tick))
            }
        }
    }
}

extension HostChoice.Refusal {
    /// Prints the reason and returns the exit code; an ambiguous choice counts as a usage error.
    func report() -> Int32 {
        switch self {
        case .none(let error): return Output.fail(error)
        case .absent(let hosts, let reason):
            let code = Output.fail("\(reason.printable); start one with `backplane run`. Running hosts:")
            Output.table(HostTable.table(hosts), to: STDERR_FILENO)
            return code
        case .unclear(let hosts, let reason):
            let code = Output.refuse("\(reason.printable); choose one with --socket, or by its manifest:")
            Output.table(HostTable.table(hosts), to: STDERR_FILENO)
            return code
        }
    }
}
