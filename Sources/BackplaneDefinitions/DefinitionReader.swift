import Backplane
import BackplaneDocuments
import BackplaneNetwork

/// A reader that turns a value into methods or header fields, and collects all problems.
struct DefinitionReader {
    /// The names of the registered serializers and models; `nil` if they are unknown.
    let serializers, models: [String]?
    private(set) var problems: [DefinitionProblem] = []
    private var errorCount = 0
    /// The indicators and octets of the current method, with their locations.
    private var indicators: [(indicator: Indicator, path: DocumentPath)] = []
    private var octets: [(text: String, path: DocumentPath)] = []
    /// The positions of the arguments that values without an effect name.
    private var ignored: Set<Int> = []

    /// The name of the built-in serializer.
    static let json = "NCJSONSerializer"
    /// The key under which editors find the schema of a JSON file.
    private static let schemaKey = "$schema"
    static let excludeKey = "excludeSharedHeader"
    static let serializationKeys = ["serializer", "serializator", "serializedObject"]
    static let requestKeys = [
        "path", "method", "sessionType", "header", "body", "parameters", "files", "allowsFullURL",
    ]

    init(serializers: [String]? = nil, models: [String]? = nil) {
        (self.serializers, self.models) = (serializers, models)
    }

    // MARK: Methods

    /// Reads the dictionary of methods.
    mutating func methods(_ value: DocumentValue) -> [DefinedMethod] {
        guard case .dictionary(let values) = value else {
            report(.definitionMalformed, "expected a dictionary of methods, found \(value.kind)", at: DocumentPath())
            return []
        }
        var methods: [DefinedMethod] = [], keys: [String: String] = [:]
        for (key, value) in values.sorted(by: { $0.key < $1.key }) where key != Self.schemaKey {
            let path = DocumentPath() / key
            guard let method = method(key, value, at: path) else { continue }
            if let other = keys.updateValue(key, forKey: method.signature) {
                let words = "`\(key)` and `\(other)` are both called as `\(method.signature)`; rename one"
                report(.definitionInvalidValue, words, at: path)
                continue
            }
            methods.append(method)
        }
        return methods
    }

    private mutating func method(_ key: String, _ value: DocumentValue, at path: DocumentPath) -> DefinedMethod? {
        let name: MethodName
        do { name = try MethodName(key) } catch {
            report(.definitionInvalidValue, error.reason, at: path)
            return nil
        }
        guard let section = section(value, at: path) else { return nil }
        (indicators, octets, ignored) = ([], [], [])
        let before = errorCount
        reportUnknownKeys(in: section, known: ["request", "serialization"])
        guard section.values["request"] != nil else {
            report(.definitionMissingKey, "`request` is missing", at: path / "request")
            return nil
        }
        guard let requestSection = dictionary("request", in: section) else { return nil }
        let session = sessionType(in: requestSection)
        let request = request(requestSection, session)
        let names = dictionary("serialization", in: section).map { serialization($0) }
        let count = checkIndicators(of: name, at: path)
        let used = Set(indicators.map(\.indicator.index)).union(ignored)
        if errorCount == before {
            let unused = (0..<count).filter { !used.contains($0) }
            checkArguments(of: name, unused, request.content, session, at: path)
        }
        guard errorCount == before else { return nil }
        return DefinedMethod(
            argumentCount: count, sessionType: session, serializer: names?.serializer, model: names?.model,
            names: name, request: request, indicators: indicators.map(\.indicator), used: used)
    }

    /// Checks the indicators of a method against its arguments, and returns the number of arguments.
    private mutating func checkIndicators(of name: MethodName, at path: DocumentPath) -> Int {
        let named = indicators.map(\.indicator.index) + ignored
        let count = name.count ?? named.max().map { $0 + 1 } ?? 0
        for (indicator, path) in indicators where indicator.index >= count {
            let arguments = count == 1 ? "one argument, `%0`" : "the arguments `%0` to `%\(count - 1)`"
            let has = count == 0 ? "no arguments" : arguments
            report(
                .definitionIndicator, "`\(indicator.text)` refers to no argument: `\(name.key)` has \(has)", at: path)
        }
        for (octet, path) in octets {
            guard let digit = octet.dropFirst().first?.wholeNumberValue, digit < count else { continue }
            let words = "`\(octet)` is a percent-encoded octet; write `%{\(digit)}` for the argument \(digit)"
            report(.definitionIndicator, words, at: path, severity: .warning)
        }
        return count
    }

    /// Checks that each argument is used, and that an upload has a body.
    private mutating func checkArguments(
        of name: MethodName, _ unused: [Int], _ content: RequestTemplate.Content, _ session: SessionType,
        at path: DocumentPath
    ) {
        if name.count != nil, case .none = content {
            if session == .upload, unused.isEmpty {
                let words = "an upload needs a body; add `body`, `parameters` or `files`, or an argument for data"
                report(.definitionMissingKey, words, at: path)
            }
            // One may be the body.
            if unused.count <= 1 { return }
        }
        for index in unused {
            let words = "no indicator refers to argument \(index), so it has no effect unless it is data"
            report(.definitionIgnored, words, at: path, severity: .warning)
        }
    }

    // MARK: Requests

    private mutating func sessionType(in section: Section) -> SessionType {
        guard let text = name("sessionType", in: section) else { return .data }
        if let type = SessionType(rawValue: text) { return type }
        let names = SessionType.allCases.map(\.rawValue)
        let rest = NameSuggestions(for: text, among: names).question ?? "expected one of \(NameSuggestions.list(names))"
        report(.definitionInvalidValue, "`\(text)` is not a session type; \(rest)", at: section.path / "sessionType")
        return .data
    }

    private mutating func request(_ section: Section, _ session: SessionType) -> RequestTemplate {
        reportUnknownKeys(in: section, known: Self.requestKeys)
        let method = method(in: section) ?? (session == .upload ? "POST" : "GET")
        var request = RequestTemplate(method: method, path: path(in: section))
        switch section.values["header"] {
        case nil: break
        case .string(let text): request.headers = properties(text, at: section.path / "header")
        case .some(let value):
            guard let header = self.section(value, at: section.path / "header") else { break }
            request.excludesSharedHeaders = bool(Self.excludeKey, in: header)
            request.headers = .listed(
                headerFields(in: header, besides: Self.excludeKey).map { name, text in
                    (name, template(text, at: header.path / name))
                })
        }
        request.content = content(of: section, method, session)
        return request
    }

    private mutating func method(in section: Section) -> String? {
        guard let text = name("method", in: section) else { return nil }
        let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
        // Methods are case-sensitive, but these are known to servers only in upper case.
        let method = known.contains(text.uppercased()) ? text.uppercased() : text
        guard method.isToken else {
            let words = "`\(text.prefix(80))` is not a method; expected a token such as `GET`"
            report(.definitionInvalidValue, words, at: section.path / "method")
            return nil
        }
        guard method != "CONNECT" else {
            let words = "`CONNECT` opens a tunnel, which a web service cannot use"
            report(.definitionInvalidValue, words, at: section.path / "method")
            return nil
        }
        return method
    }

    private mutating func path(in section: Section) -> PathTemplate {
        let path = section.path / "path"
        if section.values["path"] == nil {
            let words = "`path` is missing; the request is sent to the base URL"
            report(.definitionMissingKey, words, at: path, severity: .warning)
        }
        let text = string("path", in: section) ?? "", allowsFullURL = bool("allowsFullURL", in: section)
        let template = PathTemplate(text) { self.template($0, at: path, isURL: true) }
        if let fragment = template.fragment {
            let words = "`\(fragment.prefix(40))` is a fragment, which is never sent; write `%23` for a `#`"
            report(.definitionIgnored, words, at: path, severity: .warning)
        }
        if template.isFullURL, !allowsFullURL {
            let words = "a path is relative to the base URL, but this is a full URL; set `allowsFullURL` to allow it"
            report(.definitionInvalidValue, words, at: path)
        } else if !template.hasSoundOrigin {
            report(.definitionInvalidValue, "the host of a full URL cannot contain indicators; write it out", at: path)
        }
        return template
    }

    // MARK: Header fields

    /// Reads the header fields shared by web services, which have no indicators.
    mutating func sharedHeaders(_ value: DocumentValue) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        guard let section = section(value, at: DocumentPath()) else { return headers }
        for (name, text) in headerFields(in: section, besides: Self.schemaKey) {
            headers.add(name, text.trimmedFieldValue)
        }
        return headers
    }

    /// Reads the names and values of header fields.
    private mutating func headerFields(in section: Section, besides key: String) -> [(name: String, text: String)] {
        section.values.sorted { $0.key < $1.key }.compactMap { name, value in
            let path = section.path / name
            guard name != key, isFieldName(name, in: section), let text = text(value, at: path) else { return nil }
            if text.isFieldValue { return (name, text) }
            let words = "the value of `\(name)` contains a control character, such as a line break"
            report(.definitionInvalidValue, words, at: path)
            return nil
        }
    }

    private mutating func isFieldName(_ name: String, in section: Section) -> Bool {
        guard name.isToken else {
            let words = "`\(name.prefix(80))` is not the name of a header field, which is a token such as `Accept`"
            report(.definitionInvalidValue, words, at: section.path / name)
            return false
        }
        guard !name.isSentByClient else {
            reportIgnored(name, in: section, "the client sends it")
            return false
        }
        return true
    }

    // MARK: Content

    /// Reads `files`, `parameters` and `body`, in this order of precedence.
    private mutating func content(
        of section: Section, _ method: String, _ session: SessionType
    ) -> RequestTemplate.Content {
        if session != .upload { reportIgnored("files", in: section, "only an `UploadTask` sends files") }
        let files = session == .upload ? files(in: section) : nil
        let parameters = parameters(in: section)
        if parameters != nil || files != nil {
            let key = parameters != nil ? "parameters" : "files"
            reportIgnored("body", in: section, "the body is built from `\(key)`")
        }
        if method == "TRACE", files != nil || section.values["body"] != nil || parameters != nil {
            // RFC 9110, section 9.3.8.
            report(.definitionInvalidValue, "a `TRACE` request has no content", at: section.path)
            return .none
        }
        if let files { return .multipart(parameters ?? .listed([]), files: files) }
        if let parameters {
            guard method == "GET" || method == "HEAD" else { return .form(parameters) }
            let words = "a `\(method)` request has no content, so the parameters are sent in the query"
            report(.definitionIgnored, words, at: section.path / "parameters", severity: .warning)
            return .query(parameters)
        }
        guard let value = section.values["body"] else { return .none }
        switch value {
        case .data, .string, .array, .dictionary: return .body(body(value, at: section.path / "body"))
        default:
            wrongType(value, expected: "a string, a dictionary or data", at: section.path / "body")
            return .none
        }
    }

    private mutating func parameters(in section: Section) -> FieldTemplates? {
        let path = section.path / "parameters"
        switch section.values["parameters"] {
        case nil: return nil
        case .string(let text): return properties(text, at: path)
        case .some(let value):
            guard let fields = self.section(value, at: path) else { return nil }
            return .listed(
                fields.values.sorted { $0.key < $1.key }.compactMap { name, value in
                    text(value, at: path / name).map { (name, template($0, at: path / name)) }
                })
        }
    }

    /// Reads the indicator of an object whose properties are fields.
    private mutating func properties(_ text: String, at path: DocumentPath) -> FieldTemplates {
        if let indicator = template(text, at: path).indicator { return .properties(indicator) }
        report(.definitionWrongType, "expected a dictionary, or an indicator of an object such as `%0`", at: path)
        return .listed([])
    }

    private mutating func files(in section: Section) -> [Indicator]? {
        let path = section.path / "files"
        switch section.values["files"] {
        case nil: return nil
        case .array(let values): return values.enumerated().compactMap { file($0.element, at: path / $0.offset) }
        case .some(let value): return file(value, at: path).map { [$0] }
        }
    }

    private mutating func file(_ value: DocumentValue, at path: DocumentPath) -> Indicator? {
        guard case .string(let text) = value else {
            wrongType(value, expected: "an indicator such as `%0`", at: path)
            return nil
        }
        if let indicator = template(text, at: path).indicator { return indicator }
        report(.definitionIndicator, "expected an indicator of files, such as `%0`, and nothing else", at: path)
        return nil
    }

    /// Reads a body or a value in it, whose depth is limited by the document's reader.
    private mutating func body(_ value: DocumentValue, at path: DocumentPath) -> BodyTemplate {
        switch value {
        case .string(let text): .text(template(text, at: path))
        case .array(let values): .array(values.enumerated().map { body($0.element, at: path / $0.offset) })
        case .dictionary(let members):
            .object(members.sorted { $0.key < $1.key }.map { (name: $0.key, value: body($0.value, at: path / $0.key)) })
        default: .value(value)
        }
    }

    // MARK: Serialization

    private mutating func serialization(_ section: Section) -> (serializer: String?, model: String?) {
        reportUnknownKeys(in: section, known: Self.serializationKeys)
        let old = name("serializator", in: section), new = name("serializer", in: section)
        if new != nil { reportIgnored("serializator", in: section, "`serializer` is used") }
        let key = new != nil ? "serializer" : "serializator", serializer = new ?? old
        require(serializer, "serializer", among: serializers, at: section.path / key)
        let model = name("serializedObject", in: section)
        require(model, "model", among: models, at: section.path / "serializedObject")
        return (serializer, model)
    }

    private mutating func require(_ name: String?, _ noun: String, among names: [String]?, at path: DocumentPath) {
        guard let name, let names, !names.contains(name) else { return }
        let list = NameSuggestions(for: name, among: names).list
        let rest = names.isEmpty ? "none is" : "\(list) \(names.count == 1 ? "is" : "are")"
        report(.definitionUnknownName, "no \(noun) `\(name)` is registered; \(rest)", at: path)
    }

    // MARK: Values

    /// A dictionary and its path.
    private struct Section {
        var values: [String: DocumentValue]
        var path: DocumentPath
    }

    private mutating func section(_ value: DocumentValue, at path: DocumentPath) -> Section? {
        if case .dictionary(let values) = value { return Section(values: values, path: path) }
        wrongType(value, expected: "a dictionary", at: path)
        return nil
    }

    private mutating func dictionary(_ key: String, in section: Section) -> Section? {
        section.values[key].flatMap { self.section($0, at: section.path / key) }
    }

    private mutating func string(_ key: String, in section: Section) -> String? {
        guard let value = section.values[key] else { return nil }
        if case .string(let text) = value { return text }
        wrongType(value, expected: "a string", at: section.path / key)
        return nil
    }

    /// Reads an optional string that must not be empty.
    private mutating func name(_ key: String, in section: Section) -> String? {
        guard let text = string(key, in: section) else { return nil }
        if !text.isEmpty { return text }
        report(.definitionInvalidValue, "`\(key)` is empty; leave it out", at: section.path / key)
        return nil
    }

    /// Reads an optional Boolean value; old property lists may contain 0 or 1 instead.
    private mutating func bool(_ key: String, in section: Section) -> Bool {
        switch section.values[key] {
        case nil, .bool(false), .integer(0): return false
        case .bool(true), .integer(1): return true
        case .some(let value):
            wrongType(value, expected: "a boolean", at: section.path / key)
            return false
        }
    }

    /// Reads the value of a field; numbers and Boolean values are read as text.
    private mutating func text(_ value: DocumentValue, at path: DocumentPath) -> String? {
        if let text = value.text { return text }
        wrongType(value, expected: "a string", at: path)
        return nil
    }

    private mutating func template(_ text: String, at path: DocumentPath, isURL: Bool = false) -> Template {
        var remarks: [Template.Remark] = []
        let template = Template(text, isURL: isURL) { remarks.append($0) }
        for remark in remarks {
            switch remark {
            case .mistake(let words): report(.definitionIndicator, words, at: path)
            case .octet(let octet): octets.append((octet, path))
            case .percent(let found):
                let words = "`\(found)` is not an indicator, and is sent unchanged; write `%%` for a percent sign"
                report(.definitionIndicator, words, at: path, severity: .warning)
            }
        }
        indicators += template.indicators.map { ($0, path) }
        return template
    }

    // MARK: Problems

    private mutating func reportUnknownKeys(in section: Section, known: [String]) {
        for key in section.values.keys.sorted() where !known.contains(key) {
            let question = NameSuggestions(for: key, among: known).question
            let words = "unknown key `\(key)`; \(question ?? "known here: \(NameSuggestions.list(known))")"
            report(.definitionUnknownKey, words, at: section.path / key, severity: .warning)
        }
    }

    /// Warns of a value without an effect, if there is one; arguments that only this value names are not a mistake.
    private mutating func reportIgnored(_ key: String, in section: Section, _ reason: String) {
        guard let value = section.values[key] else { return }
        value.visit { value, _, _ in
            guard case .string(let text) = value else { return }
            ignored.formUnion(Template(text) { _ in }.indicators.map(\.index))
        }
        let words = "`\(key)` has no effect: \(reason)"
        report(.definitionIgnored, words, at: section.path / key, severity: .warning)
    }

    private mutating func wrongType(_ value: DocumentValue, expected: String, at path: DocumentPath) {
        report(.definitionWrongType, "expected \(expected), found \(value.kind)", at: path)
    }

    private mutating func report(
        _ code: BackplaneError.Code, _ message: String, at path: DocumentPath,
        severity: DefinitionProblem.Severity = .error
    ) {
        if severity == .error { errorCount += 1 }
        problems.append(DefinitionProblem(severity, BackplaneError(code, message, at: path.description)))
    }
}

extension String {
    /// A Boolean value that indicates whether the text names a header field that only the client sends.
    var isSentByClient: Bool { ["content-length", "transfer-encoding", "host"].contains(lowercased()) }
}
