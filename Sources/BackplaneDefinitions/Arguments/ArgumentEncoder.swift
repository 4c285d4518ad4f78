import Backplane
import FoundationEssentials

/// The encoding of arguments as values, with limits that `JSONEncoder` does not have.
///
/// A model that refers to itself would exhaust the stack of a `JSONEncoder`; here it is an error.
enum ArgumentEncoder {
    /// The maximum depth of nested values, the same as in documents.
    static let depth = 64
    /// The maximum number of values in one argument, the same as in documents.
    static let values = 1_000_000

    /// Returns an argument as a value.
    ///
    /// - Throws: `definition.arguments` for a value that cannot be encoded.
    static func value(of argument: (any Encodable)?, at index: Int) throws(BackplaneError) -> ArgumentValue {
        guard let argument else { return .null }
        if let known = ArgumentValue(known: argument) { return known }
        let node = ArgumentNode(Budget())
        do {
            try node.put(argument)
        } catch let error as BackplaneError {
            throw BackplaneError(error.code, "the argument \(index) \(error.message)")
        } catch {
            throw BackplaneError(.definitionArguments, "the argument \(index) cannot be encoded: \(error)")
        }
        return node.value
    }

    static func refused(_ reason: String) -> BackplaneError { BackplaneError(.definitionArguments, reason) }

    /// The number of further values that an argument may have.
    final class Budget {
        private var left = ArgumentEncoder.values

        func take() throws {
            left -= 1
            guard left >= 0 else { throw refused("contains more than \(ArgumentEncoder.values) values") }
        }
    }
}

extension ArgumentValue {
    /// Creates the value of a type that needs no encoding; `nil` for any other.
    ///
    /// A number that is not finite is left to the encoder, which rejects it.
    fileprivate init?(known value: any Encodable) {
        switch value {
        case let text as String: self = .text(text)
        case let number as Int: self = .number("\(number)")
        case let bool as Bool: self = .bool(bool)
        case let data as Data: self = .bytes(Array(data))
        // An empty array of any other type could be cast, too.
        case let bytes as [UInt8] where type(of: value) == [UInt8].self: self = .bytes(bytes)
        case let file as FilePart: self = .file(file)
        case let files as [FilePart]: self = .array(files.map(Self.file))
        case let url as URL: self = .text(url.absoluteString)
        case let number as Decimal: self = .number("\(number)")
        default: return nil
        }
    }
}

/// A position in an argument that is being encoded.
final class ArgumentNode {
    private enum Content {
        case missing
        case value(ArgumentValue)
        case array([ArgumentNode])
        case object([String: ArgumentNode])
    }
    private var content = Content.missing
    private let budget: ArgumentEncoder.Budget
    private let depth: Int

    init(_ budget: ArgumentEncoder.Budget, depth: Int = 0) { (self.budget, self.depth) = (budget, depth) }

    func put(_ value: some Encodable) throws {
        try budget.take()
        guard depth <= ArgumentEncoder.depth else {
            throw ArgumentEncoder.refused(
                "is nested deeper than \(ArgumentEncoder.depth) levels; does it contain itself?")
        }
        if let known = ArgumentValue(known: value) {
            content = .value(known)
        } else {
            try value.encode(to: NodeEncoder(node: self))
        }
    }

    func put(_ value: ArgumentValue) throws {
        try budget.take()
        content = .value(value)
    }

    func put(number: Double) throws {
        guard let value = ArgumentValue(number) else {
            throw ArgumentEncoder.refused("contains the number \(number), which cannot be sent; use a finite number")
        }
        try put(value)
    }

    func member(_ key: String) -> ArgumentNode {
        let node = ArgumentNode(budget, depth: depth + 1)
        guard case .object(var members) = content else {
            content = .object([key: node])
            return node
        }
        content = .missing
        members[key] = node
        content = .object(members)
        return node
    }

    func element() -> ArgumentNode {
        let node = ArgumentNode(budget, depth: depth + 1)
        guard case .array(var elements) = content else {
            content = .array([node])
            return node
        }
        content = .missing
        elements.append(node)
        content = .array(elements)
        return node
    }

    /// Makes the value at the position an object or an array, which may remain empty.
    func begin(isObject: Bool) {
        switch content {
        case .object where isObject, .array where !isObject: return
        default: content = isObject ? .object([:]) : .array([])
        }
    }

    var count: Int { if case .array(let elements) = content { elements.count } else { 0 } }

    var value: ArgumentValue {
        switch content {
        case .missing: .object([:])
        case .value(let value): value
        case .array(let elements): .array(elements.map(\.value))
        case .object(let members): .object(members.mapValues(\.value))
        }
    }
}
