package import Backplane

extension BackplaneError.Code {
    /// A line that another program has printed, such as a compiler; it is shown alone.
    package static let said = Self(rawValue: "said")
}

extension BackplaneError {
    /// - Parameter lines: what another program has printed of it.
    package init(_ code: Code, _ message: String, at location: String?, saying lines: [String]) {
        self.init(code, message, at: location, causes: lines.map { BackplaneError(.said, $0) })
    }

    /// What another program has printed of it, as it was printed.
    package var said: [String] { causes.filter { $0.code == .said }.map(\.message) }

    package var withoutSaid: BackplaneError {
        var error = self
        error.causes.removeAll { $0.code == .said }
        return error
    }

    /// The same with a message that goes on.
    package func adding(_ words: String, code: Code? = nil) -> BackplaneError {
        BackplaneError(code ?? self.code, message + words, at: location, failure: failure, causes: causes)
    }
}
