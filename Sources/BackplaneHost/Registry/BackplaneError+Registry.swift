import Backplane
import BackplaneDocuments

extension BackplaneError {
    /// Returns the error for a type without a suitable registered instance.
    ///
    /// - Parameter refused: The number of instances of the type that the predicate rejected.
    static func unknownService<T>(_ type: T.Type, refused: Int, registered: [any Sendable]) -> BackplaneError {
        let name = "`\(TypeName(type))`"
        guard refused == 0 else {
            let words =
                refused == 1
                ? "the registered \(name) does not match" : "none of the \(refused) registered \(name) matches"
            return BackplaneError(
                .unknownService, "\(words) the predicate; register one that does, or relax the predicate")
        }
        let advice = "register one with `services.register` before it is requested"
        guard !registered.isEmpty else {
            return BackplaneError(.unknownService, "no \(name) is registered; registered types: none; \(advice)")
        }
        var names: [String] = []
        for instance in registered {
            let name = TypeName(Swift.type(of: instance)).description
            if !names.contains(name) { names.append(name) }
        }
        return BackplaneError(
            .unknownService, "no \(name) is registered; registered types: \(NameSuggestions.list(names)); \(advice)")
    }
}

/// The qualified name of a type as written in code, without the compiler's additions for private types.
private struct TypeName: CustomStringConvertible {
    let description: String

    init(_ type: Any.Type) {
        description = String(reflecting: type).split(separator: ".").filter { !$0.hasPrefix("(unknown context at ") }
            .joined(separator: ".")
    }
}
