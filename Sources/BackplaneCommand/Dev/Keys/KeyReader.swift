import Foundation
import Glibc
import Synchronization

/// Reads single keys from the terminal, which shows none of them meanwhile.
///
/// Without a terminal, as one of its jobs in the background, and once it is closed, there are no keys.
final class KeyReader: Sendable {
    /// `nil`: standard input is no terminal of ours.
    ///
    /// - Parameter closed: called when the terminal is gone.
    init?(_ take: @escaping @Sendable (DevKey) -> Void, closed: @escaping @Sendable () -> Void) {
        guard Self.isOurs, tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        quiet = before
        quiet.c_lflag &= ~tcflag_t(ICANON | ECHO)
        Self.setTerminal(&quiet)
        isQuiet.store(true, ordering: .releasing)
        // In the background reading fails, and nothing else happens.
        for number in [SIGTTIN, SIGTTOU] { signal(number, SIG_IGN) }
        // Whoever suspended this process has given the terminal its own manners.
        signal(SIGCONT) { _ in
            if isQuiet.load(ordering: .acquiring), tcgetpgrp(STDIN_FILENO) == getpgrp() { tcsetattr(STDIN_FILENO, TCSANOW, &quiet) }
        }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 1 {
                    if let key = DevKey(typed: Character(Unicode.Scalar(byte))) { take(key) }
                } else if count == 0 || errno != EINTR {
                    guard tcgetpgrp(STDIN_FILENO) > 0, !Self.isOurs else { return closed() }
                    sleep(1)
                }
            }
        }
    }

    /// Gives the terminal back as it was; may be called from anywhere, also twice.
    static func restoreTerminal() {
        guard isQuiet.exchange(false, ordering: .acquiringAndReleasing) else { return }
        if isOurs { setTerminal(&before) }
    }

    /// A job in the background that touches the terminal would be suspended.
    private static var isOurs: Bool { isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() }

    private static func setTerminal(_ attributes: inout termios) {
        while tcsetattr(STDIN_FILENO, TCSANOW, &attributes) != 0, errno == EINTR {}
    }
}

/// A signal handler reaches nothing but a global.
nonisolated(unsafe) private var before = termios()     // written before the handler is there, only read from then on
nonisolated(unsafe) private var quiet = termios()      // the same
private let isQuiet = Atomic(false)
