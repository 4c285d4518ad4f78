import Foundation
import Glibc
import TestFixtures

/// A process of the command `backplane`, in a process group of its own, whose end, time and memory are watched.
final class HostProcess: @unchecked Sendable {  // one thread at a time uses it; what it prints goes to files
    enum Ending: Equatable {
        case exit(Int32), signal(Int32), hung, greedy
    }

    /// The time after which a process that was to end counts as hung.
    static let patience = 20.0
    /// The memory at which a process is ended before it takes the machine's.
    private static let most = 4 << 30

    let id: pid_t
    private let files: [String]
    private(set) var ending: Ending?
    /// The most memory that it and its children were seen to have, in bytes.
    private(set) var peak = 0

    /// Starts `backplane`.
    ///
    /// - Parameter folder: The folder for what it prints, and for its sockets.
    init(_ arguments: [String], in folder: String) throws {
        let name = folder + "/" + UUID().uuidString.prefix(8).lowercased()
        files = ["out", "err"].map { "\(name).\($0)" }
        var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (number, file) in files.enumerated() {
            posix_spawn_file_actions_addopen(&actions, Int32(number + 1), file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let environment = ProcessInfo.processInfo.environment.merging([
            "SWIFT_BACKTRACE": "enable=no", "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder + "/state",
            "XDG_CACHE_HOME": folder + "/cache", "BACKPLANE_ENVIRONMENT": "",
        ]) { $1 }
        var list = ([Self.program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in list + variables { free(text) } }
        var child = pid_t()
        let status = posix_spawn(&child, Self.program, &actions, &attributes, &list, &variables)
        guard status == 0 else {
            throw NotPossible("\(Self.program) cannot be run: \(String(cString: strerror(status)))")
        }
        id = child
    }

    deinit {
        if ending == nil { _ = kill() }
        for file in files { unlink(file) }
    }

    private static let program = BuiltProducts.folder + "/backplane"

    var output: String { Self.text(files[0]) }
    var errors: String { Self.text(files[1]) }

    /// What it printed, of either kind, as far as anybody would read it.
    var said: String { (errors + output).trimmingCharacters(in: .whitespacesAndNewlines) }

    /// What it said of its own end, to follow how it ended: the line of a trap or of a signal, or else its last one.
    var lastWords: String {
        let lines = said.split(separator: "\n")
        let telling = lines.last { line in
            ["backplane: signal", "Fatal error", "failed: "].contains { line.contains($0) }
        }
        return (telling ?? lines.last).map { "; it said: \($0.prefix(300))" } ?? ""
    }

    /// Whether its last words say that code of a library has ended it, whose copy is named after the library's file.
    func died(inCodeOf library: String) -> Bool {
        let file = URL(filePath: library).lastPathComponent
        return said.split(separator: "\n").contains {
            $0.contains("ends this process, in ") && $0.hasSuffix("-\(file))")
        }
    }

    /// Waits for its end, and ends it when its time is up.
    @discardableResult
    func wait(atMost limit: Double = HostProcess.patience) -> Ending {
        let end = Date.now + limit
        var looks = 0
        while !hasEnded() {
            if peak > Self.most { return kill(as: .greedy) }
            if Date.now > end { return kill(as: .hung) }
            looks += 1
            usleep(looks < 100 ? 2_000 : 10_000)
        }
        return ending!
    }

    /// Waits until it has printed a text.
    ///
    /// - Returns: Whether it has.
    func says(_ text: String, atMost limit: Double = HostProcess.patience) -> Bool {
        let end = Date.now + limit
        while !output.contains(text) {
            if hasEnded() || Date.now > end { return output.contains(text) }
            usleep(2_000)
        }
        return true
    }

    func signal(_ number: Int32) {
        if ending == nil { Glibc.kill(id, number) }
    }

    /// Kills it, and all that it has started.
    @discardableResult
    func kill(as reason: Ending? = nil) -> Ending {
        guard !hasEnded() else { return ending! }
        Glibc.kill(-id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1 && errno == EINTR {}
        ending = reason ?? .signal(SIGKILL)
        return ending!
    }

    /// Looks whether it has ended, and at its memory.
    func hasEnded() -> Bool {
        if ending != nil { return true }
        measure()
        var found = siginfo_t()
        guard waitid(P_PID, id_t(id), &found, WEXITED | WNOHANG | WNOWAIT) == 0, found.si_signo != 0 else {
            return false
        }
        // What it leaves behind ends before its number, which is its group's too, can be another's.
        Glibc.kill(-id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1 && errno == EINTR {}
        let number = status & 0x7F
        ending = number == 0 ? .exit(status >> 8 & 0xFF) : .signal(number)
        return true
    }

    private func measure() {
        let children = Self.text("/proc/\(id)/task/\(id)/children").split(separator: " ").compactMap { pid_t($0) }
        peak = max(peak, ([id] + children).reduce(0) { $0 + Self.memory(of: $1) })
    }

    /// The most resident memory of a process, in bytes.
    private static func memory(of process: pid_t) -> Int {
        let status = text("/proc/\(process)/status")
        guard let line = status.firstRange(of: "VmHWM:").map({ status[$0.upperBound...].prefix { $0 != "k" } }) else {
            return 0
        }
        return (Int(line.trimmingCharacters(in: .whitespaces)) ?? 0) << 10
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = [], part = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&part, 1, part.count, file), count > 0, bytes.count < 8 << 20 {
            bytes += part[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HostProcess.Ending: CustomStringConvertible {
    var description: String {
        switch self {
        case .exit(let code): "ended with exit code \(code)"
        case .signal(let number): "died of signal \(number)"
        case .hung: "hung for \(Int(HostProcess.patience)) s"
        case .greedy: "took more than 4 GB"
        }
    }
}
