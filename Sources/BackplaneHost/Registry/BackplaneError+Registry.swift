import Backplane

extension BackplaneError {
    /// Returns the error for a type of which no suitable instance is registered.
    ///
    /// - Parameter refused: The number of instances of the type that the predicate rejected.
    static func unknownService<T>(_ type: T.Type, refused: Int, registered: [any Sendable]) -> BackplaneError {
        let name = "`\(TypeName(type))`"
        guard refused == 0 else {
            let words = refused == 1 ? "the one registered \(name) is not" : "of \(refused) registered \(name) none is"
            return BackplaneError(
                .unknownService, "\(words) as the predicate wants it; register one that is, or ask for less")
        }
        let advice = "register one with `services.register` before it is asked for"
        guard !registered.isEmpty else {
            return BackplaneError(.unknownService, "no \(name) is registered, nor anything else; \(advice)")
        }
        var names: [String] = []
        for instance in registered {
            let name = TypeName(Swift.type(of: instance)).description
            if !names.contains(name) { names.append(name) }
        }
        return BackplaneError(
            .unknownService, "no \(name) is registered; there is \(NameSuggestions.list(names)); \(advice)")
    }
}

/// The qualified name of a type as it is written in code, without the compiler's additions for private types.
private struct TypeName: CustomStringConvertible {
    let description: String

    init(_ type: Any.Type) {
        description = String(reflecting: type).split(separator: ".").filter { !$0.hasPrefix("(unknown context at ") }
            .joined(separator: ".")
    }
}
