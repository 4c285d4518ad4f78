import Glibc
import Synchronization

/// The terminal of this process, from which a line is read without echo.
///
/// The echo is restored when the line is complete, and when a signal ends the process.
struct SecretPrompt: Sendable {
    private let descriptor: Int32

    /// Opens the terminal; `nil` if the process has none.
    init?() {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    /// Shows a prompt and reads a line, without its end; `nil` if the terminal is closed first.
    func ask(_ prompt: String) -> String? {
        guard let echo = TerminalEcho.takeOff(descriptor) else { return nil }
        defer {
            echo.restore()
            show("\n")
        }
        show(prompt)
        return SecretLine.read(from: descriptor)
    }

    private func show(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}

/// The echo of a terminal while it is switched off.
struct TerminalEcho: Sendable {
    // Process-wide, since a process has one terminal, and its end restores the echo.
    private static let off = Mutex<(descriptor: Int32, before: termios)?>(nil)

    /// Switches off the echo of a terminal; returns `nil` if the file is not a terminal.
    static func takeOff(_ descriptor: Int32) -> TerminalEcho? {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        off.withLock { [before] in $0 = (descriptor, before) }
        return TerminalEcho()
    }

    /// Restores the echo if it is switched off.
    static func restore() {
        off.withLock { off in
            guard let (descriptor, before) = off.take() else { return }
            var attributes = before
            tcsetattr(descriptor, TCSAFLUSH, &attributes)
        }
    }

    func restore() { Self.restore() }
}

/// A line that is read byte by byte, so that nothing after its end is consumed.
enum SecretLine {
    /// The maximum number of bytes in a line.
    private static let most = 64 << 10

    /// Reads up to the end of the line or of the input; `nil` if it cannot be read, is too long, or is not UTF-8.
    static func read(from descriptor: Int32) -> String? {
        var line: [UInt8] = [], byte: UInt8 = 0
        while line.count <= most {
            let count = Glibc.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 || byte == UInt8(ascii: "\n") {
                if count == 0, line.isEmpty { return nil }
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return String(validating: line, as: UTF8.self)
            }
            line.append(byte)
        }
        return nil
    }
}
