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
    ///   - interrupted: A remark for when control-C ends this command but not the work of the host.
    ///   - use: A function that prints the answer and returns the exit code.
    func ask<Message: ControlMessage>(
        _ message: Message, doing: String = "waiting for the host", interrupted: String? = nil,
        _ use: (Message.Answer, RunningHost) -> Int32
    ) -> Int32 {
        do {
            let host = try host(here: ManifestChoice.here)
            return use(try answer(of: host, to: message, doing, interrupted), host)
        } catch let refusal as Refusal {
            return refusal.report()
        } catch {
            return Output.fail(error)
        }
    }

    private func answer<Message: ControlMessage>(
        of host: RunningHost, to message: Message, _ doing: String, _ interrupted: String?
    ) throws(BackplaneError) -> Message.Answer {
        let signals = try StopSignals(),
            interruption = Task {
                guard await signals.next() != nil else { return }
                ProgressLine().clear()
                if let interrupted { Output.remark("backplane: \(interrupted)") }
                _exit(130)
            }
        defer { interruption.cancel() }
        let progress = AnswerProgress(doing)
        defer { progress.clear() }
        return try host.client.ask(message, ControlClient.Watch(report: progress.report, tick: progress.tick))
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
