import Backplane
import BackplaneHost
import BackplaneProcesses
import BackplaneTerminal
import Foundation

/// The process that a trial runs in: whatever the library does there, `validate` itself goes on.
package enum ValidationChild {
    /// The hidden command that the child runs.
    package static let command = "validate-child"
    /// Ends each note of what the child is about to do; its answer comes after the last.
    private static let mark = "\u{1E}"

    /// The child's exit code where the library has closed what the answer is written to.
    private static let closed: Int32 = 113

    /// What the child prints at last.
    private struct Answer<Facts: Codable>: Codable {
        var facts: Facts?
        var problem: BackplaneError?
    }

    /// Has a child of this process make a trial of the library at `path`.
    ///
    /// - Parameter folder: where the child may leave things.
    static func observe<Facts: Codable & Sendable>(_ trial: Trial, _ path: String, in folder: String, limit: Duration) async -> Observation<Facts> {
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
            reason = "it said what nobody understands\(doing)"
        case .overdue: reason = "it came to no end within \(seconds.formatted()) s\(doing)"
        case .exit(closed): reason = "it closed all files of its process, also those that are not its own\(doing)"
        case .signal(let number): reason = "it ended its process with signal \(number) (\(String(cString: strsignal(number))))\(doing)"
        case .exit(let status): reason = "it ended its process with exit code \(status)\(doing)"
        }
        let printed = run.errors.split(separator: "\n").filter { !isFrame($0) }.suffix(8).map { "  it printed: \($0)" }
        return .lost([reason] + printed)
    }

    /// Whether a line is one of a stack that Swift's runtime prints after its words: "12   libHello.so   0x00007f70f45795e0 <unavailable> + 25".
    private static func isFrame(_ line: Substring) -> Bool {
        line.wholeMatch(of: /\d+ +.*0x[0-9a-f]{16} .*/) != nil || line == "Current stack trace:"
    }

    /// What the child does. Never returns: nothing more of the library runs.
    package static func run(_ trial: Trial, _ path: String, loadFolder: String?) async -> Never {
        ChildLeash.hold()
        // What the library prints is no answer.
        let output = ChildLeash.moveHigh(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY)
        dup2(nothing, STDOUT_FILENO)
        // A component of the main actor needs the main thread.
        if trial == .calls || trial == .life { await RunningThreads.warmUp() }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
            // Threads that the library starts are called like the one they are started on.
            HostThread.start("backplane") {
                let candidate = Candidate(path: path, loadFolder: loadFolder) { Output.write($0 + mark, to: output) }
                switch trial {
                case .image: answer(to: output) { () throws(BackplaneError) in try candidate.image() }
                case .answer: answer(to: output) { () throws(BackplaneError) in try candidate.answer() }
                case .effort: answer(to: output) { () throws(BackplaneError) in try candidate.effort() }
                case .calls: answer(to: output) { () throws(BackplaneError) in try candidate.calls() }
                case .copies: answer(to: output) { () throws(BackplaneError) in try candidate.copies() }
                case .bounds: answer(to: output) { () throws(BackplaneError) in try candidate.bounds() }
                case .creation: answer(to: output) { () throws(BackplaneError) in try Interview(candidate).creation() }
                case .input: answer(to: output) { () throws(BackplaneError) in try Interview(candidate).input() }
                case .cancellation: answer(to: output) { () throws(BackplaneError) in try Interview(candidate).cancellation() }
                case .life: answer(to: output) { () throws(BackplaneError) in try Interview(candidate).life() }
                case .state: answer(to: output) { () throws(BackplaneError) in try Interview(candidate).state() }
                }
            }
        }
        _exit(1)
    }

    private static func answer<Facts: Codable>(to output: Int32, _ observe: () throws(BackplaneError) -> Facts) -> Never {
        var answer = Answer<Facts>()
        do throws(BackplaneError) { answer.facts = try observe() } catch { answer.problem = error }
        guard fcntl(output, F_GETFD) >= 0 else { _exit(closed) }
        Output.json(answer, to: output)
        Output.write("\0", to: output)
        _exit(0)
    }
}
