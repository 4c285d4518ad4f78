import Backplane
import FoundationEssentials
import Glibc

/// The output of a command: results on standard output, everything else on standard error.
package enum Output {
    package static func line(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
        write(text + "\n", to: descriptor)
    }

    /// Prints a line on standard error.
    package static func remark(_ text: String) {
        line(text, to: STDERR_FILENO)
    }

    /// Prints a line on standard error that replaces the current one of the terminal.
    static func overwrite(_ text: String) {
        write("\r\u{1B}[K\(text)", to: STDERR_FILENO)
    }

    package static func write(_ text: String, to descriptor: Int32) {
        write(bytes: text.utf8, to: descriptor)
    }

    package static func json(_ value: some Encodable, to descriptor: Int32 = STDOUT_FILENO) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Rows contain only strings and numbers, which always encode.
        if let data = try? encoder.encode(value) { line(String(decoding: data, as: UTF8.self), to: descriptor) }
    }

    package static func table(_ table: Table, to descriptor: Int32 = STDOUT_FILENO) {
        for row in table.lines(colour: Terminal.wantsColour(on: descriptor)) { line(row, to: descriptor) }
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
