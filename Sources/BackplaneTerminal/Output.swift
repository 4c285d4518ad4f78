import Backplane
import FoundationEssentials
import Glibc

/// What a command prints: results on standard output, everything else on standard error.
package enum Output {
    package static func line(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
        write(text + "\n", to: descriptor)
    }

    /// A line on standard error.
    package static func remark(_ text: String) {
        line(text, to: STDERR_FILENO)
    }

    /// A line of a terminal on standard error that the next one takes the place of.
    static func overwrite(_ text: String) {
        write("\r\u{1B}[K\(text)", to: STDERR_FILENO)
    }

    package static func write(_ text: String, to descriptor: Int32) {
        write(bytes: text.utf8, to: descriptor)
    }

    package static func json(_ value: some Encodable, to descriptor: Int32 = STDOUT_FILENO) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Rows are texts and numbers: they always encode.
        if let data = try? encoder.encode(value) { line(String(decoding: data, as: UTF8.self), to: descriptor) }
    }

    package static func table(_ table: Table, to descriptor: Int32 = STDOUT_FILENO) {
        for row in table.lines(colour: Terminal.wantsColour(on: descriptor)) { line(row, to: descriptor) }
    }

    /// A table of plain cells.
    package static func table(_ header: [String], _ rows: [[String]], to descriptor: Int32 = STDOUT_FILENO) {
        table(Table(header, rows.map { $0.map { Span($0) } }), to: descriptor)
    }

    package static func tree(_ tree: Tree) {
        for row in tree.lines(Terminal.pen, colour: Terminal.wantsColour) { line(row) }
    }

    /// Says on standard error what failed, with everything behind it, and gives the exit code.
    package static func fail(_ error: any Error) -> Int32 {
        fail((error as? BackplaneError)?.reportLines.joined(separator: "\n") ?? String(describing: error).printable)
    }

    package static func fail(_ message: String) -> Int32 {
        remark("backplane: \(message)")
        return 1
    }

    /// The same for arguments that make no sense together.
    package static func refuse(_ message: String) -> Int32 {
        remark("backplane: \(message)")
        return EX_USAGE
    }
}
