import Foundation
import Glibc
import Synchronization

/// A command that is entered with a single key.
package enum DevKey: Character, Sendable, CaseIterable {
    case rebuild = "r", rollBack = "b", generations = "g", restart = "s", help = "h", quit = "q"

    var text: String {
        switch self {
        case .rebuild: "rebuild"
        case .rollBack: "roll back"
        case .generations: "generations"
        case .restart: "restart"
        case .help: "help"
        case .quit: "quit"
        }
    }

    init?(typed: Character) {
        if typed == "?" { self = .help } else { self.init(rawValue: Character(typed.lowercased())) }
    }

    /// A list of all keys and their commands for the user.
    package static let legend = allCases.filter { $0 != .help }.map { "\($0.rawValue) \($0.text)" }.joined(
        separator: ", ")
}

/// A reader of single keys from the terminal, without echo.
///
/// No keys are read if there is no terminal, after it is closed, or while this process is in the background.
enum KeyReader {
    /// Reads keys on a separate thread until the terminal is closed; does nothing if standard input is not a terminal.
    static func begin(_ tell: @escaping @Sendable (DevNews) -> Void) {
        guard isatty(STDIN_FILENO) == 1 else { return }
        // Let reading fail in the background instead of suspending the process.
        for number in [SIGTTIN, SIGTTOU] { signal(number, SIG_IGN) }
        Thread.detachNewThread {
            while !isOurs {
                guard isThere else { return tell(.stop("the terminal was closed")) }
                sleep(1)
            }
            takeTerminal()
            tell(.keys)
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 1 {
                    if let key = DevKey(typed: Character(Unicode.Scalar(byte))) { tell(.key(key)) }
                } else if count == 0 || errno != EINTR {
                    guard isThere, !isOurs else { return tell(.stop("the terminal was closed")) }
                    sleep(1)
                    // Nothing signals a return to the foreground, and the shell has changed the terminal's attributes.
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
        // The shell changed the terminal's attributes while this process was suspended.
        signal(SIGCONT) { _ in
            guard isQuiet.load(ordering: .acquiring), tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
            var attributes = quiet
            tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
        }
    }

    /// Restores the terminal's attributes; can be called from any thread, and more than once.
    static func restoreTerminal() {
        guard isQuiet.exchange(false, ordering: .acquiringAndReleasing) else { return }
        if isOurs { setTerminal(before) }
    }

    private static var isThere: Bool { tcgetpgrp(STDIN_FILENO) > 0 }

    /// A Boolean value that indicates whether this process is in the foreground.
    ///
    /// A process in the background would be suspended for using the terminal.
    private static var isOurs: Bool { isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() }

    private static func setTerminal(_ attributes: termios) {
        var attributes = attributes
        while tcsetattr(STDIN_FILENO, TCSANOW, &attributes) != 0, errno == EINTR {}
    }
}

/// The state needed by the signal handler, which can access only globals.
nonisolated(unsafe) private var before = termios()  // written before the handler is installed, only read afterwards
nonisolated(unsafe) private var quiet = termios()  // the same
private let isQuiet = Atomic(false)
