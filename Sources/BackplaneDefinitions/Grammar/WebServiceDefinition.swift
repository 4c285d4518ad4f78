import Backplane
import BackplaneDocuments

/// The methods of a web service, as described by a file.
///
/// A definition is a value that was completely checked when it was read and can be used on any thread.
public struct WebServiceDefinition: Sendable {
    /// The methods, in alphabetical order of their keys.
    public let methods: [DefinedMethod]
    /// The positions of methods, keyed by their names, selectors and keys.
    private let positions: [String: [Int]]

    init(_ methods: [DefinedMethod]) {
        self.methods = methods
        var positions: [String: [Int]] = [:]
        for (position, method) in methods.enumerated() {
            for name in Set([method.name, method.selector, method.names.key]) {
                positions[name, default: []].append(position)
            }
        }
        self.positions = positions
    }

    /// Returns the methods with a name or a selector.
    func methods(named name: String) -> [DefinedMethod] { (positions[name] ?? []).map { methods[$0] } }

    /// Returns the method with a name that can be called with a number of arguments.
    ///
    /// - Throws: `definition.unknown-method`, `definition.arguments`.
    func method(_ name: String, arguments count: Int) throws(BackplaneError) -> DefinedMethod {
        guard let candidates = positions[name] else { throw unknown(name) }
        let fitting = candidates.filter { methods[$0].accepts(count) }
        if fitting.count == 1 { return methods[fitting[0]] }
        guard fitting.isEmpty else {
            let selectors = fitting.map { "`\(methods[$0].selector)`" }.joined(separator: " and ")
            throw BackplaneError(
                .definitionUnknownMethod,
                "`\(name)` with \(counted(count)) could refer to \(selectors); choose one by its selector, as in "
                    + "`service[\"\(methods[fitting[0]].selector)\"]`",
                at: name)
        }
        let existing = candidates.map { "`\(methods[$0].signature)`" }.joined(separator: ", ")
        throw BackplaneError(
            .definitionArguments, "`\(name)` was called with \(counted(count)); there is \(existing)", at: name)
    }

    private func unknown(_ name: String) -> BackplaneError {
        let suggestions = NameSuggestions(for: name, among: methods.map(\.name))
        let rest = methods.isEmpty ? "it defines none" : suggestions.question ?? "it defines \(suggestions.list)"
        return BackplaneError(.definitionUnknownMethod, "the web service has no method `\(name)`; \(rest)", at: name)
    }

    private func counted(_ count: Int) -> String { count == 1 ? "1 argument" : "\(count) arguments" }
}
