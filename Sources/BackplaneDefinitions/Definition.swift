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

/// A method of a web service, as described by its definition.
public struct DefinedMethod: Sendable {
    /// The name by which the method is called: the first part of a selector.
    public var name: String { names.base }
    /// The selector without the parts of its blocks, or the plain name.
    public var selector: String { names.selector }
    /// The number of arguments, not counting data that becomes the body.
    public let argumentCount: Int
    /// The kind of the exchange.
    public let sessionType: SessionType
    /// The HTTP method of the request, such as `GET`.
    public var method: String { request.method }
    /// The name of the serializer; `nil` means JSON.
    public let serializer: String?
    /// The name of the model into which the response is decoded; `nil` leaves the choice to the caller.
    public let model: String?

    let names: MethodName
    let request: RequestTemplate
    /// The indicators, in the order in which they occur.
    let indicators: [Indicator]
    /// The positions of the arguments to which indicators refer, including indicators in values without an effect.
    let used: Set<Int>

    /// Returns whether the method can be called with a number of arguments; an additional argument may be the body.
    func accepts(_ count: Int) -> Bool {
        if names.count == nil, case .none = request.content, count == argumentCount + 1 { return true }
        return count == argumentCount
    }

    /// The name with a placeholder for each argument: `search(_:radius:)`.
    var signature: String {
        let labels = names.labels.map { "\($0):" }.joined()
        guard names.count == nil else { return "\(name)(\(argumentCount > 0 ? "_:" : "")\(labels))" }
        return "\(name)(\(String(repeating: "_:", count: argumentCount)))"
    }
}

/// The name of a method in a definition: an Objective-C selector, or a plain name.
///
/// | key | name | arguments |
/// |---|---|---|
/// | `searchWithZIPCode:completionBlock:` | `searchWithZIPCode` | 1 |
/// | `search:radius:completionBlock:progressBlock:` | `search`, labels `radius` | 2 |
/// | `allWithCompletionBlock:` | `all` | 0 |
/// | `search` | `search` | the arguments that the indicators name |
struct MethodName: Sendable {
    /// A mistake in a key.
    struct Mistake: Error {
        var reason: String
    }
    /// The key as written.
    let key: String
    /// The name by which the method is called: the first part of a selector.
    let base: String
    /// The other parts of a selector, without the parts of its blocks.
    let labels: [String]
    /// The number of arguments; `nil` for a plain name.
    let count: Int?

    init(_ key: String) throws(Mistake) {
        guard !key.isEmpty else { throw Mistake(reason: "the name of a method is empty") }
        guard !key.unicodeScalars.contains(where: \.isSpaceOrControl) else {
            throw Mistake(reason: "the name of a method contains white space or a control character")
        }
        self.key = key
        guard key.utf8.contains(UInt8(ascii: ":")) else {
            (base, labels, count) = (key, [], nil)
            return
        }
        guard key.utf8.last == UInt8(ascii: ":") else {
            throw Mistake(reason: "`\(key)` is not a selector; each of its parts ends with a colon")
        }
        var parts = key.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).dropLast().map {
            String(Substring($0))
        }
        while parts.count > 1, ["completionBlock", "progressBlock"].contains(parts[parts.count - 1]) {
            parts.removeLast()
        }
        var count = parts.count
        let block = ["WithCompletionBlock", "WithProgressBlock"].first { parts[0].hasSuffix($0) }
        if count == 1, let block {
            parts[0].removeLast(block.count)
            count = 0
        }
        guard !parts[0].isEmpty else { throw Mistake(reason: "`\(key)` has no name before its first colon") }
        (base, labels, self.count) = (parts[0], Array(parts.dropFirst()), count)
    }

    /// The selector without the parts of its blocks.
    var selector: String {
        guard let count, count > 0 else { return base }
        return ([base] + labels).map { "\($0):" }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var isSpaceOrControl: Bool {
        // The properties of Unicode are looked up in a table of ranges.
        isASCII ? value <= 0x20 || value == 0x7F : properties.isWhitespace
    }
}

/// The kind of a method's exchange, named after the task types of Apple's `URLSession`.
public enum SessionType: String, Sendable, CaseIterable {
    /// A request whose response is in memory.
    case data = "DataTask"
    /// A request whose response may be written to a file.
    case download = "DownloadTask"
    /// A request with a body.
    case upload = "UploadTask"
}

/// The request of a method, with indicators in place of arguments.
struct RequestTemplate: Sendable {
    var method: String
    var path: PathTemplate
    var headers = FieldTemplates.listed([])
    /// A Boolean value that indicates whether the shared header fields are omitted.
    var excludesSharedHeaders = false
    var content = Content.none

    /// The source of the request's content.
    enum Content: Sendable {
        /// The definition describes no content; data that no indicator names becomes the body.
        case none
        case body(BodyTemplate)
        /// The fields of the query, for a method whose request has no content.
        case query(FieldTemplates)
        case form(FieldTemplates)
        case multipart(FieldTemplates, files: [Indicator])
    }
}

/// The fields of a header, a form or a query.
enum FieldTemplates: Sendable {
    /// Fields that the definition lists, sorted by name.
    case listed([(name: String, value: Template)])
    /// The properties of an argument.
    case properties(Indicator)
}

/// A body that a definition describes, or a value in one.
indirect enum BodyTemplate: Sendable {
    /// A value without indicators; as the whole body, data.
    case value(DocumentValue)
    /// A string; if it consists only of an indicator, it represents the argument, of any type.
    case text(Template)
    case array([BodyTemplate])
    case object([(name: String, value: BodyTemplate)])
}
