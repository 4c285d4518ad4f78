import Backplane
import CBackplaneHost
import Glibc
import Synchronization

/// The rule that determines which libraries are tried in a child process before this process loads them.
///
/// A library that passes every check can still crash the process that loads it: in the system's loader, in a
/// constructor or in its entry function. If it crashes a child instead, it is only refused.
public enum TrialRule: Sendable, Hashable {
    /// No libraries.
    case never
    /// Libraries that a running host loads, in a swap, a preview or for another manifest, when components are at risk.
    case whileRunning
    /// All libraries.
    case always
}

/// The trials of a host's libraries, which are first loaded and described in a child process.
final class LibraryTrials: Sendable {
    private let arePossible: Bool
    private let log: any LogSink
    private let hasTold = Atomic(false)

    init(arePossible: Bool, log: any LogSink) {
        (self.arePossible, self.log) = (arePossible, log)
    }

    /// Loads a library's copy in a child process, calls its entry function and reads the descriptors in its answer.
    ///
    /// A library passes if the loader or the host itself refuses it, because this process gets the same error.
    ///
    /// - Parameters:
    ///   - limit: The time after which the child is killed.
    ///   - isGivenUp: A function that returns whether the result is no longer awaited.
    /// - Throws: After removing the copy, `plugin.trial-failed` if the child does not survive it, or `host.exhausted`
    ///   if no child can be created.
    func requireSurvival(of file: LibraryFile, limit: Duration, isGivenUp: () -> Bool = { false })
        throws(BackplaneError)
    {
        guard arePossible else { return tellOnce() }
        let conclusion = Trial.open(file.copy, limit: limit, isGivenUp: isGivenUp)
        if conclusion != .passed { file.discard() }
        switch conclusion {
        case .passed: return
        case .givenUp: throw .givenUp(at: file.path)
        case .noProcess(let reason):
            throw BackplaneError(
                .hostExhausted,
                "the system cannot create a process to try the library in: \(reason); try again, or trust the library (`ChangeOptions.trustsLibraries`)",
                at: file.path)
        case .died(let death, let stage, let printed):
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
        guard !hasTold.exchange(true, ordering: .relaxed) else { return }
        log.write(
            LogRecord(
                level: .notice, source: "host",
                message:
                    "libraries are not tried in a child process first, because the host is not part of this program's executable"
            ))
    }
}

extension BackplaneError {
    static func givenUp(at path: String? = nil) -> BackplaneError {
        BackplaneError(.callCancelled, "the trial was cancelled, because no caller is waiting for it anymore", at: path)
    }
}

/// A process in which a library is loaded and its entry function called, before this process does.
///
/// The process runs this program again and is taken over before `main` (`trials.c`), so it reads a plugin's answer with
/// the code of this host.
enum Trial {
    enum Conclusion: Sendable, Hashable {
        case passed
        /// The child ended because of the library, after printing this text.
        case died(Death, stage: Stage, printed: String)
        /// The result is no longer awaited.
        case givenUp
        /// No process could be created for the trial, for this reason.
        case noProcess(String)
    }

    enum Death: Sendable, Hashable {
        case exit(Int32), signal(Int32), overdue

        fileprivate func text(_ limit: Duration) -> String {
            switch self {
            case .exit(let code): "ended it with exit code \(code)"
            case .signal(let number): "ended it with signal \(number) (\(String(cString: strsignal(number))))"
            case .overdue: "did not end within \(limit)"
            }
        }
    }

    /// The stage in which the child ended, as the child writes it.
    enum Stage: UInt8, Sendable {
        case loading, entering, reading, ending

        fileprivate var text: String {
            switch self {
            case .loading: "while it was loaded"
            case .entering: "in its entry function"
            case .reading: "while the answer of its entry function was read"
            case .ending: "when the process was to end"
            }
        }
    }

    static var isPossible: Bool { bph_can_try() != 0 }

    /// The interval at which abandoned trials are noticed, in milliseconds.
    private static let interval = 50.0
    private static let longestText = 2_048

    /// Opens the library at `path` in a child process, and reads its description if it has an entry function.
    ///
    /// The child is killed after the limit, or when the result is no longer awaited.
    static func open(_ path: String, limit: Duration, isGivenUp: () -> Bool = { false }) -> Conclusion {
        var trial = bph_trial()
        let problem = bph_start_trial(path, &trial)
        guard problem == 0 else { return .noProcess("\(SystemError(problem))") }
        let progress = FileDescriptor(adopting: trial.progress), printed = FileDescriptor(adopting: trial.printed)
        let end = Deadline.now + limit
        var hasEnded = false
        while !hasEnded, Deadline.now < end {
            let left = max(1, min((end - .now) / .milliseconds(1), interval))
            hasEnded = bph_wait_for_trial(&trial, Int32(left)) != 0
            if !hasEnded, isGivenUp() {
                _ = bph_end_trial(&trial)
                return .givenUp
            }
        }
        let status = bph_end_trial(&trial), signal = status & 0x7F
        let stage = progress.available(64).last.flatMap(Stage.init) ?? .loading
        if hasEnded, status == 0, stage == .ending { return .passed }
        let text = String(decoding: printed.available(1 << 16).suffix(longestText), as: UTF8.self)
        let death: Death = hasEnded ? signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal) : .overdue
        return .died(death, stage: stage, printed: text)
    }

    /// The entry function of the library that this process tries, which a C function cannot capture.
    nonisolated(unsafe) private static var entry: PluginDescription.Entry?  // one trial, one thread
    nonisolated(unsafe) private static var progress: Int32 = -1  // the same

    /// Loads the library in the process of a trial; an error does not fail the trial.
    fileprivate static func run(_ path: String, _ progress: Int32) {
        Self.progress = progress
        do throws(BackplaneError) {
            let library = try DynamicLibrary(loading: path), symbol = try library.symbol(LibraryFile.entry)
            entry = unsafeBitCast(symbol, to: PluginDescription.Entry.self)
            come(to: .entering)
            let plugin = try PluginDescription(
                asking: { offer, answer in
                    let status = Trial.entry?(offer, answer) ?? 0
                    Trial.come(to: .reading)
                    return status
                }, getInterface: HostInterfaces.get)
            for component in plugin.components { component.readLayouts() }
        } catch {}
        come(to: .ending)
    }

    private static func come(to stage: Stage) {
        var byte = stage.rawValue
        _ = write(progress, &byte, 1)
    }
}

@_cdecl("bph_try_library")
func tryLibrary(_ path: UnsafePointer<CChar>, _ progress: Int32) { Trial.run(String(cString: path), progress) }
