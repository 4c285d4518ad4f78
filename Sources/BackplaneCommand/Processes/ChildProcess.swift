import Backplane
import Foundation
import Glibc
import Synchronization

/// Another program that runs for this one, in a process group of its own: control-C at the terminal reaches this one alone.
///
/// Its standard input is a pipe that ends when this process does, however that ends.
final class ChildProcess: Sendable {
    /// How it ended.
    enum Ending: Sendable, Hashable {
        case exit(Int32), signal(Int32)
    }

    /// What is done with what it writes to a descriptor.
    struct Outlet: Sendable {
        var descriptor: Int32
        /// Told of a line that has begun, and does not go on for a while.
        var unfinished: (@Sendable (String) -> Void)?
        /// Called for each line, without its end, on a thread of its own.
        var take: @Sendable (String) -> Void

        init(descriptor: Int32, unfinished: (@Sendable (String) -> Void)? = nil, take: @escaping @Sendable (String) -> Void) {
            (self.descriptor, self.unfinished, self.take) = (descriptor, unfinished, take)
        }
    }
    let id: pid_t
    /// `nil` once it has ended: from then on its number may be another process's.
    private let living: Mutex<pid_t?>
    /// Closed when this is released.
    private let input: FileHandle

    /// Held from the making of a pipe until the child has it: no other child is to keep it open.
    private static let spawning = Mutex(())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - environment: what it has besides this process's, where that has no such variable.
    ///   - outlets: descriptors that are not among them are this process's own.
    ///   - ended: called once, when it has ended and all of its lines were taken.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], outlets: [Outlet],
        ended: @escaping @Sendable (Ending) -> Void
    ) throws(BackplaneError) {
        let (id, input, pipes) = try Self.spawning.withLock { _ throws(BackplaneError) in
            let input = try ChildPipe()
            var pipes: [ChildPipe] = [], id: pid_t = 0
            for _ in outlets { pipes.append(try ChildPipe()) }
            let descriptors = [(STDIN_FILENO, input.reading)] + zip(outlets, pipes).map { ($0.descriptor, $1.writing) }
            let status = Self.spawn(program, arguments, environment, descriptors, &id)
            close(input.reading)
            for pipe in pipes { close(pipe.writing) }
            guard status == 0 else {
                for end in [input.writing] + pipes.map(\.reading) { close(end) }
                throw BackplaneError(.componentFailed, "`\(program)` cannot be run: \(String(cString: strerror(status)))")
            }
            return (id, input, pipes)
        }
        self.id = id
        living = Mutex(id)
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
            let ending = wait()
            // What it has left behind may hold its pipes for ever.
            _ = readers.wait(timeout: .now() + .seconds(1))
            ended(ending)
        }
    }

    /// Sends a signal to it and everything it has started; does nothing once it has ended.
    func send(_ signal: Int32) {
        living.withLock { id in
            if let id { _ = kill(-id, signal) }
        }
    }

    /// Waits until it ends.
    private func wait() -> Ending {
        // Not yet taken off the system's list, so that a signal to it never meets another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return living.withLock { living in
            var status: Int32 = 0
            waitpid(id, &status, 0)
            living = nil
            return status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
        }
    }

    private static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ descriptors: [(own: Int32, given: Int32)], _ id: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t(), blocked = sigset_t(), defaults = sigset_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (own, given) in descriptors { posix_spawn_file_actions_adddup2(&actions, given, own) }
        // A program keeps what the thread that started it blocks, and what this one ignores.
        sigemptyset(&blocked)
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGTTOU, SIGTTIN] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        let name = program == "/proc/self/exe" ? "backplane" : program
        let variables = ProcessInfo.processInfo.environment.merging(environment) { own, _ in own }.map { "\($0)=\($1)" }
        let texts = ([name] + arguments).map { strdup($0) }, settings = variables.map { strdup($0) }
        defer { for text in texts + settings { free(text) } }
        return posix_spawnp(&id, program, &actions, &attributes, texts + [nil], settings + [nil])
    }
}

/// A pipe to a child.
private struct ChildPipe: Sendable {
    let reading, writing: Int32

    init() throws(BackplaneError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw BackplaneError(.componentFailed, "the system gives no pipe to talk to another program: \(String(cString: strerror(errno)))")
        }
        (reading, writing) = (Self.high(ends[0]), Self.high(ends[1]))
    }

    /// The same end, closed in a child, and above all descriptors that a child is given.
    private static func high(_ end: Int32) -> Int32 {
        let higher = fcntl(end, F_DUPFD_CLOEXEC, 10)
        close(end)
        return higher
    }
}
