import Backplane
import BackplaneHost
import BackplaneProcesses
import BackplaneTerminal
import BackplaneValidate
import Foundation

/// The child process that loads a library and requests its description, so that a crash does not end `inspect`.
enum InspectionChild {
    /// The hidden command that the child runs.
    static let command = "inspect-child"

    /// The output of the child.
    private struct Answer: Codable {
        var plugin: PluginReport?
        var problem: BackplaneError?
    }

    /// Asks a child process for the description of the library at `path`.
    ///
    /// - Parameters:
    ///   - folder: A folder in which the child may leave files.
    ///   - limit: The time without output after which the child is killed.
    /// - Throws: `BackplaneError` with the reason why a host would not load the library, such as a crash, a hang or an
    ///   unreadable answer.
    static func describe(_ path: String, in folder: String, limit: Duration) async throws(BackplaneError)
        -> PluginReport
    {
        let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
        let run = try await ChildRun(
            [command, "--load-folder", folder + "/child", "--", path], limit: limit)
        let reason: String
        switch run.ending {
        case .saidAll:
            if let answer = try? JSONDecoder().decode(Answer.self, from: run.output) {
                if let plugin = answer.plugin { return plugin }
                if let problem = answer.problem { throw problem }
            }
            reason = "its output could not be parsed"
        case .overdue: reason = "it did not describe itself within \(seconds.formatted()) s"
        case .signal(let number):
            reason = "it ended its process with signal \(number) (\(String(cString: strsignal(number))))"
        case .exit(let status): reason = "its process ended with exit code \(status) before it described itself"
        }
        let printed = run.errors.split(separator: "\n").suffix(8).map {
            BackplaneError(.pluginLoadFailed, "it printed: \($0)")
        }
        throw BackplaneError(.pluginLoadFailed, "loaded in a separate process, \(reason)", at: path, causes: printed)
    }

    /// Runs the child; exits instead of returning, so that no more code of the library runs.
    static func run(_ path: String, loadFolder: String?) -> Never {
        ChildLifetime.endWithParent()
        // Output of the library must not mix with the answer.
        let output = ChildLifetime.moveHigh(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY)
        dup2(nothing, STDOUT_FILENO)
        var answer = Answer()
        do throws(BackplaneError) {
            answer.plugin = PluginReport(try LibraryFile.prepare(path, in: try LoadFolder(in: loadFolder)).describe())
        } catch {
            answer.problem = error
        }
        Output.json(answer, to: output)
        Output.write("\0", to: output)
        _exit(0)
    }
}
