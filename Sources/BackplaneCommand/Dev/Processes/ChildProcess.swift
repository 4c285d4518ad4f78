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
        /// Called for each line, without its end, on a thread of its own.
        var take: @Sendable (String) -> Void
    }
    let id: pid_t
    /// `nil` once it has ended: from then on its number may be another process's.
    private let living: Mutex<pid_t?>
    /// Closed when this is released.
    private let input: FileHandle

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - outlets: descriptors that are not among them are this process's own.
    ///   - ended: called once, when it has ended and all of its lines were taken.
    init(
        _ program: String, _ arguments: [String], outlets: [Outlet], ended: @escaping @Sendable (Ending) -> Void
    ) throws(BackplaneError) {
        var input = try ChildPipe(), pipes: [ChildPipe] = []
        for _ in outlets { pipes.append(try ChildPipe()) }
        var id: pid_t = 0
        let descriptors = [(STDIN_FILENO, input.reading)] + zip(outlets, pipes).map { ($0.descriptor, $1.writing) }
        let status = Self.spawn(program, arguments, descriptors, &id)
        input.closeReading()
        for index in pipes.indices { pipes[index].closeWriting() }
        guard status == 0 else {
            input.closeWriting()
            for index in pipes.indices { pipes[index].closeReading() }
            throw BackplaneError(.componentFailed, "`\(program)` cannot be run: \(String(cString: strerror(status)))")
        }
        (self.id, living) = (id, Mutex(id))
        self.input = FileHandle(fileDescriptor: input.writing, closeOnDealloc: true)
        let readers = DispatchGroup()
        for (outlet, pipe) in zip(outlets, pipes) {
            readers.enter()
            Thread.detachNewThread {
                LineReader.read(pipe.reading, outlet.take)
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

    private static func spawn(_ program: String, _ arguments: [String], _ descriptors: [(own: Int32, given: Int32)], _ id: inout pid_t) -> Int32 {
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
        let texts = ([program] + arguments).map { strdup($0) }
        defer { for text in texts { free(text) } }
        return posix_spawnp(&id, program, &actions, &attributes, texts + [nil], environ)
    }
}

/// A pipe to a child: neither end is inherited by another program that is started meanwhile.
private struct ChildPipe {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init() throws(BackplaneError) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else {
            throw BackplaneError(.componentFailed, "the system gives no pipe to talk to another program: \(String(cString: strerror(errno)))")
        }
        // What a child is given as its own third descriptor must not be one that is closed there: none below ten is a pipe's end.
        (reading, writing) = (Self.high(ends[0]), Self.high(ends[1]))
    }

    private static func high(_ descriptor: Int32) -> Int32 {
        let higher = fcntl(descriptor, F_DUPFD_CLOEXEC, 10)
        guard higher >= 0 else { return descriptor }
        close(descriptor)
        return higher
    }

    mutating func closeReading() {
        close(reading)
        reading = -1
    }

    mutating func closeWriting() {
        close(writing)
        writing = -1
    }
}
