package import Backplane
import BackplaneDocuments

/// The methods of a contract that a definition serves, matched by name, with any mismatches.
package struct ServedContract: Sendable {
    /// The methods in the order of the contract, without those that the definition lacks.
    package private(set) var methods: [ServedMethod] = []
    /// The mismatches, in the order of the contract.
    package private(set) var problems: [DefinitionProblem] = []

    /// Compares a contract with a definition, method by method.
    ///
    /// - Parameters:
    ///   - contract: The contract, as a consumer declares it.
    ///   - shapes: The known inputs and outputs of methods, keyed by name.
    ///   - definition: The definition.
    package init(
        _ contract: ContractDescription, _ shapes: [String: ContractShape], by definition: WebServiceDefinition
    ) {
        for method in contract.methods {
            let candidates = definition.methods(named: method.name)
            guard !candidates.isEmpty else { continue }
            guard method.kind.rawValue == MethodKind.async.rawValue else {
                let kind = method.isStream ? "a stream" : "synchronous"
                report(
                    .wireMismatch, "`\(method.name)` is \(kind), and a definition serves asynchronous methods only",
                    of: method.name)
                continue
            }
            let shape = shapes[method.name] ?? ContractShape()
            guard let found = choose(candidates, shape.input, for: method.name) else { continue }
            compare(found, shape.input, for: method.name)
            methods.append(ServedMethod(method.name, found, shape))
        }
        if methods.isEmpty, problems.isEmpty {
            let names = NameSuggestions.list(definition.methods.map(\.name))
            report(
                .wireMismatch,
                "the definition has no method of `\(contract.name)`; it has \(definition.methods.isEmpty ? "none" : names)",
                of: contract.name)
        }
        warnOfConfusion(between: definition, and: contract)
    }

    /// Warns of methods that only the definition has, and whose names are almost those of missing ones.
    private mutating func warnOfConfusion(
        between definition: WebServiceDefinition, and contract: ContractDescription
    ) {
        let missing = contract.methods.map(\.name).filter { definition.methods(named: $0).isEmpty }
        let known = Set(contract.methods.map(\.name))
        for name in Set(definition.methods.map(\.name)).subtracting(known).sorted() {
            guard let question = NameSuggestions(for: name, among: missing).question else { continue }
            report(
                .definitionIgnored, "`\(contract.name)` has no method `\(name)`; \(question)", of: name,
                severity: .warning)
        }
    }

    private mutating func report(
        _ code: BackplaneError.Code, _ message: String, of name: String,
        severity: DefinitionProblem.Severity = .error
    ) {
        problems.append(DefinitionProblem(severity, BackplaneError(code, message, at: name)))
    }

    /// Returns the only method that accepts an input; reports a problem and returns `nil` if there are several.
    private mutating func choose(_ candidates: [DefinedMethod], _ input: ContractValue, for name: String)
        -> DefinedMethod?
    {
        if candidates.count == 1 { return candidates[0] }
        let fitting = candidates.filter { method in input.count.map { $0 == method.argumentCount } ?? true }
        if fitting.count == 1 { return fitting[0] }
        let names = NameSuggestions.list((fitting.isEmpty ? candidates : fitting).map(\.selector))
        report(.wireMismatch, "`\(name)` could refer to \(names); rename one in the definition", of: name)
        return nil
    }

    /// Compares an input with the arguments of a method.
    private mutating func compare(_ method: DefinedMethod, _ input: ContractValue, for name: String) {
        let count = method.argumentCount
        switch input {
        case .unknown, .list: break
        case .nothing where count > 0:
            report(.wireMismatch, "`\(name)` has no input, but `\(method.signature)` has arguments", of: name)
        case .nothing: break
        case .structure(let fields): compare(method, fields, for: name)
        case .scalar, .text, .data, .file:
            if count == 0 {
                report(.definitionIgnored, "no indicator uses the input of `\(name)`", of: name, severity: .warning)
            } else if count > 1 {
                report(
                    .wireMismatch, "the input of `\(name)` is one value, but `\(method.signature)` has \(count)",
                    of: name)
            }
        }
    }

    /// Compares the properties of an input with a method's arguments, or with the properties that its indicators name.
    private mutating func compare(_ method: DefinedMethod, _ fields: [String], for name: String) {
        guard method.argumentCount < 2 else {
            guard fields.count != method.argumentCount else { return }
            report(
                .wireMismatch,
                "the input of `\(name)` has \(fields.count) properties, but `\(method.signature)` has \(method.argumentCount) arguments",
                of: name)
            return
        }
        // The whole input contains all its properties.
        guard !method.indicators.contains(where: \.properties.isEmpty) else { return }
        let used = method.indicators.compactMap(\.properties.first)
        for property in Set(used).subtracting(fields).sorted() {
            let suggestions = NameSuggestions(for: property, among: fields)
            report(
                .definitionIndicator,
                "the input of `\(name)` has no property `\(property)`; \(suggestions.question ?? "it has \(NameSuggestions.list(fields))")",
                of: name, severity: .warning)
        }
        for property in fields where !used.contains(property) {
            report(
                .definitionIgnored, "no indicator uses `\(property)` of the input of `\(name)`", of: name,
                severity: .warning)
        }
    }
}

extension ContractValue {
    /// The number of arguments that the value represents; `nil` if it is unknown.
    fileprivate var count: Int? {
        switch self {
        case .unknown, .list, .structure: nil
        case .nothing: 0
        case .scalar, .text, .data, .file: 1
        }
    }
}
