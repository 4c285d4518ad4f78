package import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// The kind of a contract's value, as far as the consumer describes it.
package enum ContractValue: Sendable {
    /// A value of unknown type, such as any value of a consumer in C.
    case unknown
    /// `Nothing`.
    case nothing
    /// A number or a Boolean value.
    case scalar
    /// A string.
    case text
    /// Bytes, which cross as base64.
    case data
    /// A `StoredFile`.
    case file
    /// A list of values.
    case list
    /// A struct with these stored properties, in the order of their declaration.
    case structure([String])
}

/// The input and the output of a contract's method.
package struct ContractShape: Sendable {
    package var input: ContractValue
    package var output: ContractValue

    package init(input: ContractValue = .unknown, output: ContractValue = .unknown) {
        (self.input, self.output) = (input, output)
    }
}

/// The methods of a contract that a definition serves, matched by name, with any mismatches.
package struct ServedContract: Sendable {
    /// The methods in the order of the contract, without methods that the definition lacks.
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
                mismatch(
                    "`\(method.name)` is \(kind), and a definition serves asynchronous methods only", of: method.name)
                continue
            }
            let shape = shapes[method.name] ?? ContractShape()
            guard let found = choose(candidates, shape.input, for: method.name) else { continue }
            compare(found, shape.input, for: method.name)
            methods.append(ServedMethod(method.name, found, shape))
        }
        if methods.isEmpty, problems.isEmpty {
            let names = definition.methods.isEmpty ? "none" : NameSuggestions.list(definition.methods.map(\.name))
            mismatch("the definition has no method of `\(contract.name)`; it has \(names)", of: contract.name)
        }
        warnOfConfusion(between: definition, and: contract)
    }

    /// Warns of methods that only the definition has, and whose names resemble the names of missing methods.
    private mutating func warnOfConfusion(
        between definition: WebServiceDefinition, and contract: ContractDescription
    ) {
        let missing = contract.methods.map(\.name).filter { definition.methods(named: $0).isEmpty }
        let known = Set(contract.methods.map(\.name))
        for name in Set(definition.methods.map(\.name)).subtracting(known).sorted() {
            guard let question = NameSuggestions(for: name, among: missing).question else { continue }
            warn("`\(contract.name)` has no method `\(name)`; \(question)", of: name)
        }
    }

    /// Returns the only method that accepts an input; reports a problem and returns `nil` if there are several.
    private mutating func choose(
        _ candidates: [DefinedMethod], _ input: ContractValue, for name: String
    ) -> DefinedMethod? {
        let count: Int? =
            switch input {
            case .unknown, .list, .structure: nil
            case .nothing: 0
            case .scalar, .text, .data, .file: 1
            }
        let fitting = candidates.filter { count == nil || $0.argumentCount == count }
        if candidates.count == 1 || fitting.count == 1 { return fitting.first ?? candidates[0] }
        let names = NameSuggestions.list((fitting.isEmpty ? candidates : fitting).map(\.selector))
        mismatch("`\(name)` could refer to \(names); rename one in the definition", of: name)
        return nil
    }

    /// Compares an input with the arguments of a method.
    private mutating func compare(_ method: DefinedMethod, _ input: ContractValue, for name: String) {
        let count = method.argumentCount
        switch input {
        case .nothing where count > 0:
            mismatch("`\(name)` has no input, but `\(method.signature)` has arguments", of: name)
        case .structure(let fields) where count > 1:
            guard fields.count != count else { return }
            let found = "the input of `\(name)` has \(fields.count) properties"
            mismatch("\(found), but `\(method.signature)` has \(count) arguments", of: name)
        case .structure(let fields): compare(method, fields, for: name)
        case .scalar where count == 0, .text where count == 0, .data where count == 0, .file where count == 0:
            warn("no indicator uses the input of `\(name)`", of: name)
        case .scalar where count > 1, .text where count > 1, .data where count > 1, .file where count > 1:
            mismatch("the input of `\(name)` is one value, but `\(method.signature)` has \(count)", of: name)
        default: break
        }
    }

    /// Compares the properties of an input with the properties that a method's indicators name.
    private mutating func compare(_ method: DefinedMethod, _ fields: [String], for name: String) {
        // The whole input contains all its properties.
        guard !method.indicators.contains(where: \.properties.isEmpty) else { return }
        let used = method.indicators.compactMap(\.properties.first)
        for property in Set(used).subtracting(fields).sorted() {
            let question = NameSuggestions(for: property, among: fields).question
            let rest = question ?? "it has \(NameSuggestions.list(fields))"
            warn("the input of `\(name)` has no property `\(property)`; \(rest)", of: name, .definitionIndicator)
        }
        for property in fields where !used.contains(property) {
            warn("no indicator uses `\(property)` of the input of `\(name)`", of: name)
        }
    }

    private mutating func mismatch(_ message: String, of name: String) {
        problems.append(DefinitionProblem(.error, BackplaneError(.wireMismatch, message, at: name)))
    }

    private mutating func warn(
        _ message: String, of name: String, _ code: BackplaneError.Code = .definitionIgnored
    ) {
        problems.append(DefinitionProblem(.warning, BackplaneError(code, message, at: name)))
    }
}

/// A method of a contract that a method of a definition serves.
package struct ServedMethod: Sendable {
    /// The name of the method in the contract.
    package let name: String
    let method: DefinedMethod
    /// The stored properties of the input, in the order of the arguments that they become; `nil` if they are unknown.
    private let fields: [String]?
    let output: ContractOutput

    init(_ name: String, _ method: DefinedMethod, _ shape: ContractShape) {
        (self.name, self.method) = (name, method)
        fields = if case .structure(let fields) = shape.input { method.names.ordered(fields) ?? fields } else { nil }
        output = ContractOutput(method, shape.output)
    }

    /// Returns the arguments that an input represents.
    ///
    /// A single argument is the input itself. Several arguments are the elements of an array, or the properties of a
    /// struct, matched by the labels of a selector or else in the order of their declaration, if known.
    ///
    /// - Throws: `definition.arguments`.
    func arguments(of input: DocumentValue) throws(BackplaneError) -> [DocumentValue] {
        let count = method.argumentCount
        guard count > 1 else { return count == 0 ? [] : [input] }
        switch input {
        case .array(let elements) where elements.count == count: return elements
        case .array(let elements): throw refused("has \(elements.count) elements")
        case .dictionary(let members):
            guard let fields = fields ?? method.names.ordered(Array(members.keys)), fields.count == count else {
                throw refused("is an object")
            }
            if let other = members.keys.filter({ !fields.contains($0) }).min() {
                throw refused("has the property `\(other)`, which is none of \(NameSuggestions.list(fields))")
            }
            // Encoders leave out properties without a value.
            return fields.map { members[$0] ?? .null }
        default: throw refused("is one value")
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
    /// The first argument is the only property without a label, or unknown if there is none. Missing properties are
    /// added, because encoders omit properties without a value.
    ///
    /// - Returns: The properties; `nil` if the name has no labels, or more than one property has no label.
    fileprivate func ordered(_ properties: [String]) -> [String]? {
        let others = properties.filter { !labels.contains($0) }
        guard !labels.isEmpty, Set(labels).count == labels.count, others.count < 2 else { return nil }
        return [others.first ?? ""] + labels
    }
}

/// The form in which a response becomes the output of a contract's method.
enum ContractOutput: Sendable {
    /// The unchanged body, which is already JSON; `null` for an empty body.
    case json
    /// The body as JSON, or plain text as a JSON string, because the expected type is unknown.
    case any
    /// `null`, regardless of the body.
    case nothing
    /// The body as a JSON string, unless it is already JSON.
    case text
    /// The body in base64.
    case data
    /// A `StoredFile` with the body.
    case file
    /// The JSON that a serializer creates from the body.
    case mapped(String)

    init(_ method: DefinedMethod, _ output: ContractValue) {
        let serializer = method.serializer == DefinitionReader.json ? nil : method.serializer
        self =
            switch (output, serializer) {
            case (.nothing, _): .nothing
            case (.file, _): .file
            case (.unknown, _) where method.sessionType == .download: .file
            case (_, let serializer?): .mapped(serializer)
            case (.text, nil): .text
            case (.data, nil): .data
            case (.unknown, nil): .any
            default: .json
            }
    }

    /// Returns the output for a response whose status is valid, unless it is written to a file or mapped.
    ///
    /// - Throws: ``NotJSON`` for a body that cannot be JSON.
    func output(of response: HTTPResponse) throws -> [UInt8] {
        let body = response.body, type = response.headers["Content-Type"]?.lowercased() ?? ""
        switch self {
        case .nothing: return Array("null".utf8)
        case .data: return Data(body).base64EncodedString().json
        case .text where !type.contains("json"): return String(decoding: body, as: UTF8.self).json
        case .any where type.contains("text/plain"): return String(decoding: body, as: UTF8.self).json
        case .json, .any, .text, .file, .mapped:
            if body.isEmpty { return Array("null".utf8) }
            // The rest is checked when the consumer decodes the text.
            let first = body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
            guard #"{["-tfn0123456789"#.utf8.contains(first) else { throw NotJSON() }
            return body
        }
    }

    /// The error for a body that is not JSON.
    struct NotJSON: ComponentError {
        var code: String { "definition.not-json" }
        var message: String { "expected JSON, or a `serializer` in the definition" }
    }
}
