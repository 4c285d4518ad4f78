package import Backplane

extension BackplaneError.Code {
    /// The code of a line printed by another program, such as a compiler, which is displayed without a code.
    package static let said = Self(rawValue: "said")
}

extension BackplaneError {
    /// Creates an error that carries the output of another program.
    ///
    /// - Parameter lines: The lines that the other program printed about the error.
    package init(_ code: Code, _ message: String, at location: String?, saying lines: [String]) {
        self.init(code, message, at: location, causes: lines.map { BackplaneError(.said, $0) })
    }

    /// The lines that another program printed about the error, unchanged.
    package var said: [String] { causes.filter { $0.code == .said }.map(\.message) }

    /// The error without the output of another program.
    package var withoutSaid: BackplaneError {
        var error = self
        error.causes.removeAll { $0.code == .said }
        return error
    }

    /// Returns the error with words added to its message.
    package func adding(_ words: String, code: Code? = nil) -> BackplaneError {
        BackplaneError(code ?? self.code, message + words, at: location, failure: failure, causes: causes)
    }
}
