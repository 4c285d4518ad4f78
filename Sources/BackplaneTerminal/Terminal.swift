import Glibc

/// Whether what is printed is read by a person at a terminal, and what may be done there.
package enum Terminal {
    typealias Environment = (String) -> String?

    package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorsAreTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a line can be written over there: one that is `dumb`, or says nothing of itself, can do nothing.
    static func takesProgress(isTerminal: Bool, environment: Environment) -> Bool {
        isTerminal && !["", "dumb"].contains(environment("TERM") ?? "")
    }

    package static var takesProgress: Bool { takesProgress(isTerminal: errorsAreTerminal, environment: variable) }

    /// How many characters fit on a line there: a longer one cannot be overwritten.
    package static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) : 80
    }

    /// Colour is for terminals that know it, and for people who did not say no: <https://no-color.org>.
    static func wantsColour(isTerminal: Bool, environment: Environment) -> Bool {
        isTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    package static var wantsColour: Bool { wantsColour(on: STDOUT_FILENO) }

    package static func wantsColour(on descriptor: Int32) -> Bool {
        wantsColour(isTerminal: isatty(descriptor) == 1, environment: variable)
    }

    /// What trees are drawn with: plain letters where the terminal or the locale is known to have no others.
    static func pen(environment: Environment) -> Tree.Pen {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
        return environment("TERM") == "dumb" || locale == "C" || locale == "POSIX" ? .ascii : .boxes
    }

    static var pen: Tree.Pen { pen(environment: variable) }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
