import Foundation
import Glibc
import Synchronization

/// A line of a shell at a terminal of its own, and the person who types and reads there.
final class TerminalRun: Sendable {
    private enum Event: Sendable {
        case text(Data)
        /// Nothing more is to be read; or nobody whom the line has started is left.
        case end
    }
    private struct State {
        var text = Data(), ends = 0
        var isOver: Bool { ends == 2 }
    }
    struct NoTerminal: Error {}

    /// Whether the system has terminals to give.
    static let isPossible: Bool = {
        var own: Int32 = -1, other: Int32 = -1
        guard openpty(&own, &other, nil, nil, nil) == 0 else { return false }
        for end in [own, other] { close(end) }
        return true
    }()

    /// The person's side of the terminal, until it is closed.
    private let terminal: Int32
    /// The reader closes the terminal when this is closed.
    private let presence: FileHandle
    private let events: AsyncStream<Event>
    private let state = Mutex(State())

    init(_ line: String, environment: [String: String]) throws {
        var own: Int32 = -1, other: Int32 = -1, present: [Int32] = [-1, -1], alive: [Int32] = [-1, -1]
        guard openpty(&own, &other, nil, nil, nil) == 0, let name = ttyname(other), pipe(&present) == 0,
            pipe(&alive) == 0
        else { throw NoTerminal() }
        for end in [own, other] + present + alive { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        terminal = own
        presence = FileHandle(fileDescriptor: present[1], closeOnDealloc: true)
        defer { for end in [other, alive[1]] { close(end) } }
        let shell = try Self.spawn(line, at: String(cString: name), holding: alive[1], environment)
        let (events, event) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        Self.read(terminal, while: present[0]) { event.yield($0.map(Event.text) ?? .end) }
        let end = alive[0]
        Thread.detachNewThread {
            // Everything that the shell starts keeps the other end, and nothing else does.
            var byte: UInt8 = 0
            while Glibc.read(end, &byte, 1) < 0, errno == EINTR {}
            close(end)
            waitpid(shell, nil, 0)
            event.yield(.end)
        }
    }

    var text: String { state.withLock { String(decoding: $0.text, as: UTF8.self) } }

    func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(terminal, bytes, bytes.count) == bytes.count else { throw NoTerminal() }
    }

    /// Whether what is typed appears there, and is given to programs line by line.
    var isOrdinary: Bool {
        var attributes = termios()
        let both = tcflag_t(ECHO | ICANON)
        return tcgetattr(terminal, &attributes) == 0 && attributes.c_lflag & both == both
    }

    /// Waits until this is to be read there, so many times; `false` when all has ended without.
    func says(_ text: String, times: Int = 1) async -> Bool {
        func isThere(_ state: State) -> Bool {
            String(decoding: state.text, as: UTF8.self).components(separatedBy: text).count > times
        }
        while !state.withLock({ isThere($0) }) {
            guard await take() else { return false }
        }
        return true
    }

    /// Waits until nobody whom the line has started is left.
    func end() async -> Bool {
        while await take() {}
        return state.withLock { $0.isOver }
    }

    private func take() async -> Bool {
        if state.withLock({ $0.isOver }) { return false }
        for await event in events {
            switch event {
            case .text(let data): state.withLock { $0.text += data }
            case .end: state.withLock { $0.ends += 1 }
            }
            return true
        }
        return false
    }

    /// The shell leads a session, whose terminal this is.
    private static func spawn(_ line: String, at name: String, holding end: Int32, _ environment: [String: String])
        throws -> pid_t
    {
        var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t(), shell: pid_t = 0
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, name, O_RDWR, 0)
        for output in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, output)
        }
        posix_spawn_file_actions_adddup2(&actions, end, 9)
        // Not `sigset_t()`: the compiler may believe that its initializer is Dispatch's.
        let blocked = UnsafeMutablePointer<sigset_t>.allocate(capacity: 2), defaults = blocked + 1
        defer { blocked.deallocate() }
        sigemptyset(blocked)
        sigfillset(defaults)
        posix_spawnattr_setsigmask(&attributes, blocked)
        posix_spawnattr_setsigdefault(&attributes, defaults)
        let setSession: Int16 = 0x80  // POSIX_SPAWN_SETSID, which the overlay lacks
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | setSession)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let (words, settings) = (Self.copies(["/bin/sh", "-c", line]), Self.copies(variables))
        defer { for text in words + settings { free(text) } }
        guard posix_spawn(&shell, "/bin/sh", &actions, &attributes, words + [nil], settings + [nil]) == 0 else {
            throw NoTerminal()
        }
        return shell
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } }

    /// Hands over what comes, `nil` at the end, and then closes the terminal: a thread that still reads it would keep
    /// it open.
    private static func read(_ terminal: Int32, while presence: Int32, _ deliver: @escaping @Sendable (Data?) -> Void) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var both = [
                pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
                pollfd(fd: presence, events: Int16(POLLIN), revents: 0),
            ]
            while true {
                guard poll(&both, 2, -1) > 0 else { continue }
                if both[1].revents != 0 { break }
                let count = Glibc.read(terminal, &buffer, buffer.count)
                if count > 0 {
                    deliver(Data(buffer[..<count]))
                } else {
                    // Nobody has it open any more; its settings can still be asked for.
                    both[0].fd = -1
                    deliver(nil)
                }
            }
            if both[0].fd >= 0 { deliver(nil) }
            close(terminal)
            close(presence)
        }
    }
}
