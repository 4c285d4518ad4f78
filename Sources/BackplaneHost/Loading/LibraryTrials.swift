import Backplane
import Glibc

/// The trials of a host's libraries, each of which is first loaded and described in a child process.
final class LibraryTrials: Sendable {
    let rule: TrialRule
    private let process: TrialProcess
    private let log: any LogSink
    private let hasTold = Monitor(false)

    init(_ rule: TrialRule, in process: TrialProcess, log: any LogSink) {
        (self.rule, self.process, self.log) = (rule, process, log)
    }

    /// Loads a library's copy in a child process, calls its entry function and reads the descriptors in its answer.
    ///
    /// A library that the loader itself refuses passes, because the loader would also refuse it in this process, where
    /// its dependencies may already be in memory.
    ///
    /// - Parameters:
    ///   - limit: The time after which the child is killed.
    ///   - isGivenUp: A function that returns whether the result is no longer awaited.
    /// - Throws: After removing the copy, `plugin.trial-failed` if the child does not survive it, or `host.exhausted`
    ///   if no child can be created.
    func requireSurvival(of file: LibraryFile, limit: Duration, isGivenUp: () -> Bool = { false })
        throws(BackplaneError)
    {
        switch process.open(file.copy, toolchain: SwiftCompiler.build, limit: limit, isGivenUp: isGivenUp) {
        case .passed, .refused: return
        case .givenUp:
            file.discard()
            throw .givenUp(at: file.path)
        case .impossible: tellOnce()
        case .noProcess(let reason):
            file.discard()
            throw BackplaneError(
                .hostExhausted,
                "the system cannot create a process to try the library in: \(reason); try again, or trust the library (`SwapOptions.trustsLibraries`)",
                at: file.path)
        case .died(let death, let stage, let printed):
            file.discard()
            let lines = printed.split(separator: "\n").suffix(8).map {
                BackplaneError(.pluginTrialFailed, "it printed: \($0.replacing(file.copy, with: file.path))")
            }
            throw BackplaneError(
                .pluginTrialFailed,
                "tried in a child process first, the library \(death.text(limit)) \(stage.text), so this process does not load it; `backplane validate` reports details",
                at: file.path, causes: lines)
        }
    }

    private func tellOnce() {
        let isFirst = hasTold.withLock { told in
            defer { told = true }
            return !told
        }
        guard isFirst else { return }
        log.write(
            LogRecord(
                level: .notice, source: "host",
                message:
                    "libraries are not tried in a child process first, because the host is not part of this program's executable",
                metadata: [:]))
    }
}

extension BackplaneError {
    /// Returns the error for work on a library whose result is no longer awaited.
    static func givenUp(at path: String? = nil) -> BackplaneError {
        BackplaneError(.callCancelled, "the trial was cancelled, because no caller is waiting for it anymore", at: path)
    }
}

extension TrialProcess.Death {
    fileprivate func text(_ limit: Duration) -> String {
        switch self {
        case .exit(let code): "ended it with exit code \(code)"
        case .signal(let number): "ended it with signal \(number) (\(String(cString: strsignal(number))))"
        case .overdue: "did not end within \(limit)"
        }
    }
}

extension TrialProcess.Stage {
    fileprivate var text: String {
        switch self {
        case .loading: "while it was loaded"
        case .entering: "in its entry function"
        case .reading: "while the answer of its entry function was read"
        case .ending: "when the process was to end"
        }
    }
}
