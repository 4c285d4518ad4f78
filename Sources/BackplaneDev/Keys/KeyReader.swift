import Foundation
import Glibc
import Synchronization

/// Reads single keys from the terminal, which shows none of them meanwhile.
///
/// There are none without a terminal, once it is closed, and for as long as this is one of its jobs in the background.
enum KeyReader {
    enum News: Sendable {
        /// From now on keys are read.
        case begun
        case key(DevKey)
        /// The terminal is gone.
        case closed
    }

    /// Reads until the terminal is gone, on a thread of its own; does nothing where standard input is none.
    static func begin(_ tell: @escaping @Sendable (News) -> Void) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        // In the background reading fails, and nothing else happens.
        for number in [SIGTTIN, SIGTTOU] { signal(number, SIG_IGN) }
        Thread.detachNewThread {
            while !isOurs {
                guard isThere else { return tell(.closed) }
                sleep(1)
            }
            takeTerminal()
            tell(.begun)
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 1 {
                    if let key = DevKey(typed: Character(Unicode.Scalar(byte))) { tell(.key(key)) }
                } else if count == 0 || errno != EINTR {
                    guard isThere, !isOurs else { return tell(.closed) }
                    sleep(1)
                    // Brought to the front while it ran, it is told nothing, and the shell has had its own manners meanwhile.
                    if isOurs, isQuiet.load(ordering: .acquiring) { setTerminal(quiet) }
                }
            }
        }
    }

    private static func takeTerminal() {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return }
        quiet = before
        quiet.c_lflag &= ~tcflag_t(ICANON | ECHO)
        setTerminal(quiet)
        isQuiet.store(true, ordering: .releasing)
        // Whoever suspended this process has given the terminal its own manners.
        signal(SIGCONT) { _ in
            guard isQuiet.load(ordering: .acquiring), tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
            var attributes = quiet
            tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
        }
    }

    /// Gives the terminal back as it was; may be called from anywhere, also twice.
    static func restoreTerminal() {
        guard isQuiet.exchange(false, ordering: .acquiringAndReleasing) else { return }
        if isOurs { setTerminal(before) }
    }

    private static var isThere: Bool { tcgetpgrp(STDIN_FILENO) > 0 }

    /// A job in the background that touches the terminal would be suspended.
    private static var isOurs: Bool { isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() }

    private static func setTerminal(_ attributes: termios) {
        var attributes = attributes
        while tcsetattr(STDIN_FILENO, TCSANOW, &attributes) != 0, errno == EINTR {}
    }
}

/// A signal handler reaches nothing but a global.
nonisolated(unsafe) private var before = termios()     // written before the handler is there, only read from then on
nonisolated(unsafe) private var quiet = termios()      // the same
private let isQuiet = Atomic(false)
