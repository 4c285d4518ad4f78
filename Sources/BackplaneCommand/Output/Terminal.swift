import Glibc

/// Whether what is printed is read by a person at a terminal, and what may be done there.
enum Terminal {
    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorsAreTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Colour is for terminals that know it, and for people who did not say no: <https://no-color.org>.
    static func wantsColour(isTerminal: Bool, environment: (String) -> String?) -> Bool {
        isTerminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    static var wantsColour: Bool {
        wantsColour(isTerminal: outputIsTerminal) { name in getenv(name).map { String(cString: $0) } }
    }
}
