import Glibc
import Synchronization

/// The full-screen mode of the process's terminal: the alternate buffer, raw keys, and no lines of the log.
///
/// The terminal is restored when the process leaves the mode, exits, crashes, or ends by an unhandled signal. Output to
/// standard error in the meantime appears then.
enum TerminalMode {
    /// A change of the terminal, as a byte in the pipe of ``enter(input:output:news:)``.
    enum News: UInt8 {
        case resized, continued
    }
    /// The codes for the alternate buffer, no cursor and no wrapping of lines, with which the first drawing begins.
    static let codes = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"

    /// Enters the mode; returns `false` if the files are no terminal, or another session is in the mode.
    ///
    /// - Parameters:
    ///   - input: The file from which keys are read.
    ///   - output: The file to which lines are written, and the codes that restore the terminal.
    ///   - news: The end of a pipe, which does not block, to which signals are written as bytes of ``News``.
    static func enter(input: Int32, output: Int32, news: Int32) -> Bool {
        guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
            return false
        }
        guard tcgetattr(input, ordinary) == 0 else {
            isTaken.store(false, ordering: .releasing)
            return false
        }
        (inputFile, outputFile) = (input, output)
        newsFile.store(news, ordering: .releasing)
        keepErrors()
        isActive.store(true, ordering: .releasing)
        resume()
        _ = exitHandler
        for number in [SIGWINCH, SIGCONT] {
            handle(number) { number in
                var byte = (number == SIGWINCH ? News.resized : .continued).rawValue
                _ = write(newsFile.load(ordering: .acquiring), &byte, 1)
            }
        }
        for number in crashes + ends.filter({ !isHandled($0) }) {
            handle(number, flags: SA_ONSTACK) { number in
                restore()
                sigaction(number, formerActions + Int(number), nil)
                raise(number)
            }
        }
        return true
    }

    /// Makes the terminal raw, again after the process was suspended; ``codes`` have to be written afterwards.
    static func resume() {
        var raw = ordinary.pointee
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INPCK | ISTRIP | IXON)
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
        while tcsetattr(inputFile, TCSANOW, &raw) != 0, errno == EINTR {}
    }

    /// Leaves the mode that the session has entered.
    static func leave() {
        // A handler in another thread must not write to a file that later gets the same number.
        newsFile.store(-1, ordering: .releasing)
        for number in [SIGWINCH, SIGCONT] + crashes + ends where isOurs[Int(number)] {
            sigaction(number, formerActions + Int(number), nil)
            isOurs[Int(number)] = false
        }
        restore()
        if let file = errorsStream {
            fclose(file)
            if errorsTarget != formerErrors { close(errorsTarget) }
            close(formerErrors)
            errorsStream = nil
        }
        isTaken.store(false, ordering: .releasing)
    }

    // MARK: Signals

    private static let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]
    /// The signals that end a process, unless it handles or ignores them.
    private static let ends = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]

    private static func handle(_ number: Int32, flags: Int32 = SA_RESTART, _ handler: @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = flags
        isOurs[Int(number)] = sigaction(number, &action, formerActions + Int(number)) == 0
    }

    private static func isHandled(_ number: Int32) -> Bool {
        sigaction(number, nil, formerActions + Int(number))
        let handler = formerActions[Int(number)].__sigaction_handler.sa_handler
        return unsafeBitCast(handler, to: Int.self) != unsafeBitCast(SIG_DFL, to: Int.self)
    }

    private static let exitHandler: Void = { atexit { restore() } }()

    // MARK: Standard error

    /// Redirects standard error to a file, if it is a terminal.
    private static func keepErrors() {
        guard isatty(STDERR_FILENO) == 1, let file = tmpfile() else { return }
        // A global is created at its first use, which would allocate memory in a signal handler.
        _ = errorsBuffer
        formerErrors = dup(STDERR_FILENO)
        errorsTarget = TerminalFiles.reopened(formerErrors)
        errorsStream = file
        errorsFile.store(fileno(file), ordering: .releasing)
        dup2(fileno(file), STDERR_FILENO)
    }
}

/// Restores the terminal, as a signal handler may.
private func restore() {
    guard isActive.exchange(false, ordering: .acquiringAndReleasing) else { return }
    if !send(leaving, to: outputFile, patience: 0) {
        // The terminal has stalled: dropping its unread output makes room for the codes.
        tcflush(outputFile, TCOFLUSH)
        _ = send(leaving, to: outputFile, patience: 0)
    }
    tcsetattr(inputFile, TCSANOW, ordinary)
    let file = errorsFile.exchange(-1, ordering: .acquiringAndReleasing)
    guard file >= 0 else { return }
    dup2(formerErrors, STDERR_FILENO)
    lseek(file, 0, SEEK_SET)
    while true {
        let count = read(file, errorsBuffer, errorsBufferSize)
        guard count > 0, send(errorsBuffer, count, to: errorsTarget, patience: 1000) else { break }
    }
}

private func send(_ text: StaticString, to file: Int32, patience: Int32) -> Bool {
    send(text.utf8Start, text.utf8CodeUnitCount, to: file, patience: patience)
}

/// Writes bytes; returns `false` if the reader makes no room within the given milliseconds, or has gone.
private func send(_ bytes: UnsafeRawPointer, _ count: Int, to file: Int32, patience: Int32) -> Bool {
    var sent = 0
    while sent < count {
        var entry = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
        let ready = poll(&entry, 1, patience)
        if ready < 0, errno == EINTR { continue }
        guard ready > 0 else { return false }
        let written = write(file, bytes + sent, count - sent)
        if written < 0, errno == EINTR { continue }
        guard written > 0 || errno == EAGAIN && patience > 0 else { return false }
        sent += max(0, written)
    }
    return true
}

/// The attributes, the wrapping of lines, the cursor and the ordinary buffer.
private let leaving: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

/// A Boolean value that indicates whether a session has the terminal; a process has only one.
private let isTaken = Atomic(false)

// State for the signal handlers, which can access only globals. The session that has the terminal writes it before it
// installs the handlers, while `isActive` is false.

/// A Boolean value that indicates whether the terminal has to be restored.
private let isActive = Atomic(false)
private let newsFile = Atomic<Int32>(-1)
nonisolated(unsafe) private let ordinary = UnsafeMutablePointer<termios>.allocate(capacity: 1)
nonisolated(unsafe) private let formerActions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
nonisolated(unsafe) private var isOurs = [Bool](repeating: false, count: 65)
nonisolated(unsafe) private var inputFile: Int32 = -1
nonisolated(unsafe) private var outputFile: Int32 = -1
nonisolated(unsafe) private var formerErrors: Int32 = -1
/// The file of `formerErrors`, opened so that writing does not block.
nonisolated(unsafe) private var errorsTarget: Int32 = -1
private let errorsFile = Atomic<Int32>(-1)
nonisolated(unsafe) private var errorsStream: UnsafeMutablePointer<FILE>?
private let errorsBufferSize = 1 << 12
nonisolated(unsafe) private let errorsBuffer = UnsafeMutableRawPointer.allocate(byteCount: 1 << 12, alignment: 16)
