import Backplane
import BackplaneDocuments

/// A method of a contract that a method of a definition serves.
package struct ServedMethod: Sendable {
    /// The name of the method in the contract.
    package let name: String
    let method: DefinedMethod
    /// The stored properties of the input, in the order of the arguments that they become; `nil` if they are unknown.
    let fields: [String]?
    let output: ContractOutput

    init(_ name: String, _ method: DefinedMethod, _ shape: ContractShape) {
        (self.name, self.method) = (name, method)
        fields = if case .structure(let fields) = shape.input { method.names.ordered(fields) ?? fields } else { nil }
        output = ContractOutput(method, shape)
    }

    /// The name of the serializer that maps the response; `nil` if none does.
    package var serializer: String? { if case .mapped(let name) = output { name } else { nil } }

    /// Returns the arguments that an input represents.
    ///
    /// A single argument is the input itself. Several arguments are the elements of an array, or the properties of a
    /// struct, matched by the labels of a selector or else in the order of their declaration, if known.
    ///
    /// - Throws: `definition.arguments`.
    func arguments(of input: DocumentValue) throws(BackplaneError) -> [ArgumentValue] {
        switch method.argumentCount {
        case 0: return []
        case 1: return [ArgumentValue(input)]
        case let count:
            switch input {
            case .array(let elements) where elements.count == count: return elements.map { ArgumentValue($0) }
            case .array(let elements): throw refused("has \(elements.count) elements")
            case .dictionary(let members):
                guard let fields = fields ?? method.names.ordered(Array(members.keys)), fields.count == count else {
                    throw refused("is an object")
                }
                if let other = members.keys.filter({ !fields.contains($0) }).min() {
                    throw refused("has the property `\(other)`, which is none of \(NameSuggestions.list(fields))")
                }
                // Encoders leave out properties without a value.
                return fields.map { members[$0].map { ArgumentValue($0) } ?? .null }
            default: throw refused("is one value")
            }
        }
    }

    private func refused(_ found: String) -> BackplaneError {
        let labels = method.names.labels
        let object = labels.isEmpty ? "" : ", or an object with \(NameSuggestions.list(labels)) and one other property"
        return BackplaneError(
            .definitionArguments,
            "the input \(found), but `\(method.signature)` has \(method.argumentCount) arguments; expected an array of them\(object)",
            at: name)
    }
}

extension MethodName {
    /// Returns properties in the order of a selector's arguments, whose labels name all but the first.
    ///
    /// The first argument is the only other property, or an unknown one if there is none. Missing properties are added,
    /// because encoders omit those without a value.
    ///
    /// - Returns: The properties; `nil` if the name has no labels, or more than one property has no label.
    fileprivate func ordered(_ properties: [String]) -> [String]? {
        let others = properties.filter { !labels.contains($0) }
        guard !labels.isEmpty, Set(labels).count == labels.count, others.count < 2 else { return nil }
        return [others.first ?? ""] + labels
    }
}
