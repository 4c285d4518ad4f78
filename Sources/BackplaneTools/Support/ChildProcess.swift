package import Backplane
package import Foundation
import Glibc
import Synchronization

/// A child process in its own process group, so that Control-C at the terminal reaches only this process.
///
/// Its standard input is a pipe that ends when this process ends for any reason.
package final class ChildProcess: Sendable {
    package typealias Ending = SpawnedProcess.Ending

    /// The handling of the output to one descriptor.
    package struct Outlet: Sendable {
        /// The descriptor in the child.
        package var descriptor: Int32
        /// The function called with a line that has begun, but has not continued for a while.
        package var unfinished: (@Sendable (String) -> Void)?
        /// The function called with each line, without its line ending, on a separate thread.
        package var take: @Sendable (String) -> Void

        package init(
            descriptor: Int32, unfinished: (@Sendable (String) -> Void)? = nil,
            take: @escaping @Sendable (String) -> Void
        ) {
            (self.descriptor, self.unfinished, self.take) = (descriptor, unfinished, take)
        }
    }
    private let process: SpawnedProcess
    /// The writing end of the child's standard input, closed when this object is released.
    private let input: FileHandle

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: A path, or a name to look for in `PATH`, or `nil` for this program itself.
    ///   - environment: Variables that are added unless they are already set in this process.
    ///   - outlets: The descriptors to read from; the child inherits the others from this process.
    ///   - ended: A function called once: when the child has ended and all its lines have been handled, but at most
    ///     five seconds after the child's end.
    package init(
        _ program: String?, _ arguments: [String], environment: [String: String] = [:], outlets: [Outlet],
        ended: @escaping @Sendable (Ending) -> Void
    ) throws(BackplaneError) {
        let (process, input, pipes) = try Self.start(program, arguments, environment, outlets)
        self.process = process
        self.input = FileHandle(fileDescriptor: input.writing, closeOnDealloc: true)
        let readers = DispatchGroup()
        for (outlet, pipe) in zip(outlets, pipes) {
            readers.enter()
            Thread.detachNewThread {
                LineReader.read(pipe.reading, unfinished: outlet.unfinished, outlet.take)
                close(pipe.reading)
                readers.leave()
            }
        }
        Thread.detachNewThread { [self] in
            guard let ending = self.process.wait() else { preconditionFailure("no other code waits for the process") }
            // Processes that the child leaves behind may keep its pipes open forever.
            _ = readers.wait(timeout: .now() + .seconds(5))
            ended(ending)
        }
    }

    /// Starts the program, and returns the pipes of its standard input and of the outlets.
    private static func start(
        _ program: String?, _ arguments: [String], _ environment: [String: String], _ outlets: [Outlet]
    ) throws(BackplaneError) -> (SpawnedProcess, input: ChildPipe, pipes: [ChildPipe]) {
        let input = try ChildPipe()
        var pipes: [ChildPipe] = []
        defer {
            close(input.reading)
            for pipe in pipes { close(pipe.writing) }
        }
        do throws(BackplaneError) {
            for _ in outlets { pipes.append(try ChildPipe()) }
            let descriptors = [(STDIN_FILENO, input.reading)] + zip(outlets, pipes).map { ($0.descriptor, $1.writing) }
            let process = try SpawnedProcess(
                program, arguments, environment: environment, descriptors: descriptors, group: .own)
            return (process, input, pipes)
        } catch {
            for end in [input.writing] + pipes.map(\.reading) { close(end) }
            throw error
        }
    }

    package var id: pid_t { process.id }

    /// Sends a signal to the child and all its descendants; does nothing once it has ended.
    package func send(_ signal: Int32) { process.send(signal) }
}

extension ChildProcess {
    /// Interrupts a package manager repeatedly, and kills it if it has not stopped after a while.
    ///
    /// A single signal is not enough, because a package manager loses signals during its first tenth of a second.
    ///
    /// - Parameter patience: The time until it is killed, in tenths of a second.
    package func stop(patience: Int) {
        Thread.detachNewThread { [self] in
            for _ in 0..<patience {
                send(SIGINT)
                usleep(100_000)
            }
            send(SIGKILL)
        }
    }
}

/// A child process, from its start until it has ended and was waited for.
package final class SpawnedProcess: Sendable {
    /// The way in which the process ended.
    package enum Ending: Sendable, Hashable {
        case exit(Int32), signal(Int32)

        /// The description as text.
        package var text: String {
            switch self {
            case .exit(let code): "it ended with exit code \(code)"
            case .signal(let number): "signal \(number) ended it (\(String(cString: strsignal(number))))"
            }
        }
    }

    /// The process group, which determines the processes that signals reach.
    package enum Group: Sendable {
        /// The group of this process: a signal reaches only the child, and Control-C at the terminal reaches both
        /// processes.
        case ours
        /// A new group: a signal reaches the child and its descendants, and Control-C at the terminal reaches none of
        /// them.
        case own
    }
    package let id: pid_t
    private let group: Group
    /// The process id, or `nil` after the end of the process, when the id may belong to another process.
    private let living: Mutex<pid_t?>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: A path, or a name to look for in `PATH`, or `nil` for this program itself.
    ///   - environment: Variables that are added unless this process already has them.
    ///   - overrides: Variables that are set whether or not this process has them.
    ///   - descriptors: The descriptors that the child receives, each with its number in the child and its number in
    ///     this process. The child inherits other descriptors unless they are close-on-exec.
    package init(
        _ program: String?, _ arguments: [String], environment: [String: String] = [:],
        overrides: [String: String] = [:], descriptors: [(inChild: Int32, here: Int32)], group: Group
    ) throws(BackplaneError) {
        var actions = posix_spawn_file_actions_t(), id: pid_t = 0
        posix_spawn_file_actions_init(&actions)
        for (number, here) in descriptors { posix_spawn_file_actions_adddup2(&actions, here, number) }
        var attributes = Self.attributes(group)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { own, _ in own }
            .merging(overrides) { $1 }.map { "\($0)=\($1)" }
        let texts = ([program ?? "backplane"] + arguments).map { strdup($0) }, settings = variables.map { strdup($0) }
        let status = ChildPipe.creation.withLock { _ in
            posix_spawnp(
                &id, program ?? "/proc/self/exe", &actions, &attributes, texts + [nil], settings + [nil])
        }
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        for text in texts + settings { free(text) }
        guard status == 0 else {
            throw BackplaneError(
                .componentFailed, "`\(program ?? "backplane")` cannot be run: \(String(cString: strerror(status)))")
        }
        (self.id, self.group) = (id, group)
        living = Mutex(id)
    }

    private static func attributes(_ group: Group) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t(), blocked = sigset_t(), defaults = sigset_t()
        posix_spawnattr_init(&attributes)
        // A program inherits ignored signals, and the signals that are blocked in the starting thread. Swift's threads
        // block some signals.
        sigemptyset(&blocked)
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGTTOU, SIGTTIN] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (group == .own ? POSIX_SPAWN_SETPGROUP : 0)))
        return attributes
    }

    /// Sends a signal; does nothing once the process has ended.
    package func send(_ signal: Int32) {
        living.withLock { id in
            if let id { _ = kill(group == .own ? -id : id, signal) }
        }
    }

    /// Waits for the end of the process; returns `nil` if it was already waited for.
    package func wait() -> Ending? {
        guard let id = living.withLock(\.self) else { return nil }
        // The process stays a zombie until the lock is held, so that no signal reaches a later process with its id.
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return living.withLock { living in
            var status: Int32 = 0
            guard living != nil else { return nil }
            living = nil
            guard waitpid(id, &status, 0) == id else { return nil }
            return status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
        }
    }
}

/// A pipe between this process and a child, with both ends closed in other children.
package struct ChildPipe: Sendable {
    package let reading, writing: Int32

    /// The lock that is held while the ends of a new pipe are not yet close-on-exec, and while a child is started.
    static let creation = Mutex(())

    package init() throws(BackplaneError) {
        (reading, writing) = try Self.creation.withLock { _ throws(BackplaneError) in try Self.ends() }
    }

    private static func ends() throws(BackplaneError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(errno) }
        let (reading, writing) = (high(ends[0]), high(ends[1]))
        guard reading < 0 || writing < 0 else { return (reading, writing) }
        let number = errno
        for end in [reading, writing] where end >= 0 { close(end) }
        throw failure(number)
    }

    private static func failure(_ number: Int32) -> BackplaneError {
        BackplaneError(
            .componentFailed, "no pipe to another program could be created: \(String(cString: strerror(number)))")
    }

    /// Duplicates an end to a number above all descriptors that a child receives, and closes the original.
    private static func high(_ end: Int32) -> Int32 {
        let higher = fcntl(end, F_DUPFD_CLOEXEC, 10)
        close(end)
        return higher
    }
}

/// A reader that splits the contents of a pipe into lines.
package enum LineReader {
    /// The maximum length of a line in bytes; the rest of a longer line counts as the next line.
    static let longestLine = 1 << 20

    /// Reads lines until the end of file, repairing invalid UTF-8.
    ///
    /// - Parameters:
    ///   - unfinished: A function called with a line that has begun, but has not continued for a while.
    ///   - take: A function called with each line.
    package static func read(_ descriptor: Int32, unfinished: ((String) -> Void)? = nil, _ take: (String) -> Void) {
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let unfinished, !bytes.isEmpty, isQuiet(descriptor) { unfinished(line(bytes[...])) }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            var rest = bytes[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n"))
                ?? (rest.count >= longestLine ? rest.startIndex + longestLine - 1 : nil)
            {
                take(line(rest[...end]))
                rest = rest[(end + 1)...]
            }
            bytes.removeSubrange(..<rest.startIndex)
        }
        if !bytes.isEmpty { take(line(bytes[...])) }
    }

    /// Returns whether no input arrives for about a third of a second.
    private static func isQuiet(_ descriptor: Int32) -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, 300) == 0
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The lines that a program has printed.
package final class OutputLines: Sendable {
    private let lines = Mutex((output: [String](), errors: [String]()))

    package init() {}

    package var text: (output: [String], errors: [String]) { lines.withLock { $0 } }

    package func output(_ line: String) { lines.withLock { $0.output.append(line) } }
    package func error(_ line: String) { lines.withLock { $0.errors.append(line) } }
}
