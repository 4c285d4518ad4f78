import Glibc

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
