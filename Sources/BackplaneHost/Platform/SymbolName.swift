import CBackplaneHost
import Glibc

/// The names of functions in symbol tables.
enum SymbolName {
    /// Returns the demangled Swift name, or the name itself, in at most 200 characters to fit on a log line.
    static func readable(_ name: String) -> String {
        String(withoutFiles(demangled(name) ?? name).prefix(200))
    }

    /// Removes the unreadable file discriminators of private functions: `(f in _C0FFEE)` becomes `f`.
    private static func withoutFiles(_ text: String) -> String {
        guard let mark = text.firstRange(of: " in _"), let open = text[..<mark.lowerBound].lastIndex(of: "("),
            let close = text[mark.upperBound...].firstIndex(of: ")"),
            text[mark.upperBound..<close].allSatisfy(\.isHexDigit)
        else { return text }
        let rest = withoutFiles(String(text[text.index(after: close)...]))
        return text[..<open] + text[text.index(after: open)..<mark.lowerBound] + rest
    }

    private static func demangled(_ name: String) -> String? {
        guard name.utf8.count < 4_096, let text = swift_demangle(name, name.utf8.count, nil, nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
