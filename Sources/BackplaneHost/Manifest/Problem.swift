public import Backplane
public import BackplaneDocuments

/// Something wrong with a manifest, by itself or against the plugins it names.
public struct Problem: Sendable, Hashable {
    public enum Severity: String, Sendable, Hashable {
        /// What it belongs to cannot be used.
        case error
        /// It works, though perhaps not as meant.
        case warning
    }

    public var severity: Severity
    /// The manager that it belongs to; `nil`: the whole manifest.
    public var manager: String?
    /// What is wrong, located by a JSON pointer such as `/managers/LibraryManager/className`.
    public var error: BackplaneError
    /// Where that is in the text, if it was read from JSON.
    public var position: SourcePosition?

    public init(_ severity: Severity, manager: String?, _ error: BackplaneError, position: SourcePosition? = nil) {
        (self.severity, self.manager, self.error, self.position) = (severity, manager, error, position)
    }
}

extension BackplaneError {
    /// Several errors of one subject as one: the only one itself, or one with the first's code and all as its causes.
    ///
    /// - Precondition: there is at least one.
    static func combining(_ errors: [BackplaneError], of subject: String, at location: String?) -> BackplaneError {
        guard errors.count > 1 else { return errors[0] }
        return BackplaneError(errors[0].code, "\(subject) has \(errors.count) errors, the first: \(errors[0].message)", at: location, causes: errors)
    }
}

extension [Problem] {
    /// Those of the whole manifest first, then manager by manager, each in the order they were found.
    var grouped: [Problem] {
        enumerated().sorted { a, b in
            switch (a.element.manager, b.element.manager) {
            case (let a?, let b?) where a != b: a < b
            case (nil, _?): true
            case (_?, nil): false
            default: a.offset < b.offset
            }
        }.map(\.element)
    }
}
