import Backplane
import BackplaneHost
import Foundation

/// The child process in which a trial runs, so that a crash of the library does not end `validate`.
package enum ValidationChild {
    /// The hidden command that the child runs.
    package static let command = "validate-child"
    /// The end of each note about the child's next step; the answer follows the last note.
    private static let mark = "\u{1E}"

    /// The child's exit code if the library has closed the descriptor for the answer.
    private static let closed: Int32 = 113

    /// The final output of the child.
    private struct Answer<Facts: Codable>: Codable {
        var facts: Facts?
        var problem: BackplaneError?
    }

    /// Runs a trial of the library at `path` in a child process.
    ///
    /// - Parameters:
    ///   - folder: A folder in which the child may leave files.
    ///   - limit: The maximum time without output, after which the child is killed.
    static func observe<Facts: Codable & Sendable>(_ trial: Trial, _ path: String, in folder: String, limit: Duration)
        async -> Observation<Facts>
    {
        let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
        let run: ChildRun
        do throws(BackplaneError) {
            run = try await ChildRun(
                [command, trial.rawValue, "--load-folder", "\(folder)/\(trial.rawValue)", "--", path], limit: limit)
        } catch {
            return .refused(error)
        }
        var notes = String(decoding: run.output, as: UTF8.self).components(separatedBy: mark)
        let text = notes.removeLast(), doing = notes.last.map { ", while \($0)" } ?? ""
        let reason: String
        switch run.ending {
        case .saidAll:
            if let answer = try? JSONDecoder().decode(Answer<Facts>.self, from: Data(text.utf8)) {
                if let facts = answer.facts { return .seen(facts) }
                if let problem = answer.problem { return .refused(problem) }
            }
            reason = "its output could not be parsed\(doing)"
        case .overdue: reason = "it did not finish within \(seconds.formatted()) s\(doing)"
        case .exit(closed): reason = "it closed all files of its process, including those that it did not open\(doing)"
        case .signal(let number):
            reason = "it ended its process with signal \(number) (\(String(cString: strsignal(number))))\(doing)"
        case .exit(let status): reason = "it ended its process with exit code \(status)\(doing)"
        }
        let printed = run.errors.split(separator: "\n").filter { !isFrame($0) }.suffix(8).map { "  it printed: \($0)" }
        return .lost([reason] + printed)
    }

    /// Returns whether a line belongs to a stack trace of the Swift runtime.
    ///
    /// Such a line is "12   libHello.so   0x00007f70f45795e0 <unavailable> + 25".
    private static func isFrame(_ line: Substring) -> Bool {
        line.wholeMatch(of: /\d+ +.*0x[0-9a-f]{16} .*/) != nil || line == "Current stack trace:"
    }

    /// Runs the child; exits instead of returning, so that no more code of the library runs.
    package static func run(_ trial: Trial, _ path: String, loadFolder: String?) async -> Never {
        ChildLifetime.endWithParent()
        // Output of the library must not mix with the answer.
        let output = ChildLifetime.moveHigh(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY)
        dup2(nothing, STDOUT_FILENO)
        // The trial runs on another thread, because components on the main actor need the main thread.
        if trial == .calls || trial == .life { await RunningThreads.warmUp() }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
            // Threads of the library inherit the name of the thread that starts them.
            let begins = HostThread.tryStart("backplane") {
                let candidate = Candidate(path: path, loadFolder: loadFolder) { Output.write($0 + mark, to: output) }
                switch trial {
                case .image: answer(to: output) { () throws(BackplaneError) in try candidate.image() }
                case .answer: answer(to: output) { () throws(BackplaneError) in try candidate.answer() }
                case .effort: answer(to: output) { () throws(BackplaneError) in try candidate.effort() }
                case .calls: answer(to: output) { () throws(BackplaneError) in try candidate.calls() }
                case .copies: answer(to: output) { () throws(BackplaneError) in try candidate.copies() }
                case .bounds: answer(to: output) { () throws(BackplaneError) in try candidate.bounds() }
                case .creation:
                    answer(to: output) { () throws(BackplaneError) in try ComponentProbe(candidate).creation() }
                case .input: answer(to: output) { () throws(BackplaneError) in try ComponentProbe(candidate).input() }
                case .cancellation:
                    answer(to: output) { () throws(BackplaneError) in try ComponentProbe(candidate).cancellation() }
                case .streams:
                    answer(to: output) { () throws(BackplaneError) in try ComponentProbe(candidate).streams() }
                case .life: answer(to: output) { () throws(BackplaneError) in try ComponentProbe(candidate).life() }
                case .state: answer(to: output) { () throws(BackplaneError) in try ComponentProbe(candidate).state() }
                }
            }
            guard !begins else { return }
            Output.remark("the system cannot create a thread for the child process")
            _exit(1)
        }
        _exit(1)
    }

    private static func answer<Facts: Codable>(to output: Int32, _ observe: () throws(BackplaneError) -> Facts) -> Never
    {
        var answer = Answer<Facts>()
        do throws(BackplaneError) { answer.facts = try observe() } catch { answer.problem = error }
        guard fcntl(output, F_GETFD) >= 0 else { _exit(closed) }
        Output.json(answer, to: output)
        Output.write("\0", to: output)
        _exit(0)
    }
}
