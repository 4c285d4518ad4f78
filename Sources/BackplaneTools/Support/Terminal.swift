import Backplane
import Foundation
import Glibc
import Synchronization

/// The capabilities of the terminal, if any, to which the output is written.
package enum Terminal {
    typealias Environment = (String) -> String?

    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorsAreTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Returns whether a line can be overwritten: not on a `dumb` terminal, nor on one without a type.
    static func takesProgress(isTerminal: Bool, environment: Environment) -> Bool {
        isTerminal && !["", "dumb"].contains(environment("TERM") ?? "")
    }

    package static var takesProgress: Bool { takesProgress(isTerminal: errorsAreTerminal, environment: variable) }

    /// A Boolean value that indicates whether standard output is a terminal whose lines can be overwritten.
    package static var takesTable: Bool { takesProgress(isTerminal: outputIsTerminal, environment: variable) }

    /// The number of characters in a line, beyond which it cannot be overwritten.
    package static var columns: Int { size(of: STDERR_FILENO).columns }

    /// Returns the size of the terminal behind a descriptor; 80 columns and 24 rows if unknown.
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return (80, 24) }
        return (size.ws_col > 1 ? Int(size.ws_col) : 80, size.ws_row > 1 ? Int(size.ws_row) : 24)
    }

    /// Returns whether to use colour: on capable terminals unless `NO_COLOR` is set, see <https://no-color.org>.
    static func wantsColour(isTerminal: Bool, environment: Environment) -> Bool {
        isTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    package static var wantsColour: Bool { wantsColour(on: STDOUT_FILENO) }

    package static func wantsColour(on descriptor: Int32) -> Bool {
        wantsColour(isTerminal: isatty(descriptor) == 1, environment: variable)
    }

    /// Returns the characters for drawing trees: ASCII if the terminal or the locale supports no others.
    static func pen(environment: Environment) -> Tree.Pen {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
        return environment("TERM") == "dumb" || locale == "C" || locale == "POSIX" ? .ascii : .boxes
    }

    static var pen: Tree.Pen { pen(environment: variable) }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// The output of a command: results on standard output, everything else on standard error.
package enum Output {
    package static func line(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
        write(text + "\n", to: descriptor)
    }

    /// Prints a line on standard error.
    package static func remark(_ text: String) {
        line(text, to: STDERR_FILENO)
    }

    /// Prints a line on standard error that replaces the current line of the terminal.
    static func overwrite(_ text: String) {
        write("\r\u{1B}[K\(text)", to: STDERR_FILENO)
    }

    package static func write(_ text: String, to descriptor: Int32) {
        write(bytes: text.utf8, to: descriptor)
    }

    package static func json(_ value: some Encodable, to descriptor: Int32 = STDOUT_FILENO) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            line(String(decoding: try encoder.encode(value), as: UTF8.self), to: descriptor)
        } catch {
            // Rows contain only strings and numbers. Encoding fails only for numbers that are not finite.
            lose("written as JSON: \(error)")
        }
    }

    package static func table(_ table: Table, to descriptor: Int32 = STDOUT_FILENO) {
        let width = isatty(descriptor) == 1 ? Terminal.size(of: descriptor).columns : .max
        for row in table.lines(colour: Terminal.wantsColour(on: descriptor), width: width) { line(row, to: descriptor) }
    }

    /// Prints a table of unstyled cells.
    package static func table(_ header: [String], _ rows: [[String]], to descriptor: Int32 = STDOUT_FILENO) {
        table(Table(header, rows.map { $0.map { Span($0) } }), to: descriptor)
    }

    package static func tree(_ tree: Tree) {
        for row in tree.lines(Terminal.pen, colour: Terminal.wantsColour) { line(row) }
    }

    /// Prints an error and its causes on standard error, and returns the exit code.
    package static func fail(_ error: any Error) -> Int32 {
        fail((error as? BackplaneError)?.reportLines.joined(separator: "\n") ?? String(describing: error).printable)
    }

    package static func fail(_ message: String) -> Int32 {
        remark("backplane: \(message)")
        return 1
    }

    /// Prints an error about contradictory arguments, and returns the exit code for incorrect usage.
    package static func refuse(_ message: String) -> Int32 {
        remark("backplane: \(message)")
        return EX_USAGE
    }
}

extension Output {
    /// A Boolean value that indicates whether output was lost, global like the process's standard output.
    private static let isIncomplete = Atomic(false)

    /// Returns the exit code for a command that ended with `code`: 1 if its output is incomplete.
    package static func exitCode(_ code: Int32) -> Int32 {
        code == 0 && isIncomplete.load(ordering: .relaxed) ? 1 : code
    }

    /// Writes bytes unchanged, and waits if the reader is slow.
    ///
    /// A closed pipe is not an error. Any other failure is reported once on standard error and makes the exit code 1.
    package static func write(bytes: some Sequence<UInt8>, to descriptor: Int32 = STDOUT_FILENO) {
        var rest = ArraySlice(bytes)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitUntilWritable(descriptor)
            } else if errno != EINTR {
                return fail(errno, of: descriptor)
            }
        }
    }

    private static func waitUntilWritable(_ descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
    }

    private static func fail(_ number: Int32, of descriptor: Int32) {
        // A failure of standard error itself cannot be reported anywhere.
        guard number != EPIPE, descriptor != STDERR_FILENO else { return }
        lose("written: \(String(cString: strerror(number)))")
    }

    private static func lose(_ reason: String) {
        guard !isIncomplete.exchange(true, ordering: .relaxed) else { return }
        remark("backplane: the output cannot be \(reason)")
    }
}

/// A line on standard error that shows the current activity if it is a terminal.
package struct ProgressLine: Sendable {
    private let isShown = Terminal.takesProgress

    package init() {}

    package func show(_ text: String) {
        if isShown { Output.overwrite(text) }
    }

    package func clear() { show("") }
}

/// The reader of this process's standard output.
package enum OutputReader {
    /// Watches for the reader to close the pipe or terminal, and calls `tellGone` once; a file has no reader.
    package static func watch(_ tellGone: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0, errno == EINTR {}
            if Int32(output.revents) & (POLLERR | POLLHUP) != 0 { tellGone() }
        }
    }
}
