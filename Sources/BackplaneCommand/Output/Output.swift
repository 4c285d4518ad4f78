import Backplane
import FoundationEssentials
import Glibc

/// What a command prints: results on standard output, everything else on standard error.
enum Output {
    static func line(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// A line on standard error.
    static func remark(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    static func write(_ text: String, to descriptor: Int32) {
        var rest = ArraySlice(text.utf8)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return }     // nobody reads any more
            rest = rest.dropFirst(max(count, 0))
        }
    }

    static func json(_ value: some Encodable, to descriptor: Int32 = STDOUT_FILENO) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Rows are texts and numbers: they always encode.
        if let data = try? encoder.encode(value) { write(String(decoding: data, as: UTF8.self) + "\n", to: descriptor) }
    }

    /// Columns as wide as their widest cell; the last one as long as it is.
    static func table(_ header: [String], _ rows: [[String]]) {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        for row in all {
            let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
            var text = cells.joined(separator: "  ")
            while text.last == " " { text.removeLast() }
            line(text)
        }
    }

    /// Says on standard error what failed, with everything behind it, and gives the exit code.
    static func fail(_ error: any Error) -> Int32 {
        fail((error as? BackplaneError)?.detailedDescription ?? String(describing: error))
    }

    static func fail(_ message: String) -> Int32 {
        remark("backplane: \(message)")
        return 1
    }
}
