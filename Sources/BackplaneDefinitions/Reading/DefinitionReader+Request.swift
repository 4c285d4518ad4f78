import Backplane
import BackplaneDocuments
import BackplaneNetwork

extension DefinitionReader {
    static let requestKeys = [
        "path", "method", "sessionType", "header", "body", "parameters", "files", "allowsFullURL",
    ]

    mutating func sessionType(in section: Section) -> SessionType {
        guard let text = name("sessionType", in: section) else { return .data }
        if let type = SessionType(rawValue: text) { return type }
        let names = SessionType.allCases.map(\.rawValue)
        let rest = NameSuggestions(for: text, among: names).question ?? "expected one of \(NameSuggestions.list(names))"
        report(.definitionInvalidValue, "`\(text)` is not a session type; \(rest)", at: section.path / "sessionType")
        return .data
    }

    /// Reads the request of a method.
    mutating func request(_ section: Section, _ session: SessionType) -> RequestTemplate {
        reportUnknownKeys(in: section, known: Self.requestKeys)
        let method = method(in: section) ?? (session == .upload ? "POST" : "GET")
        var request = RequestTemplate(method: method, path: path(in: section))
        if let header = dictionary("header", in: section) {
            request.excludesSharedHeaders = bool(Self.excludeKey, in: header)
            request.headers = headers(in: header)
        }
        request.content = content(of: section, method, session)
        return request
    }

    private mutating func method(in section: Section) -> String? {
        guard let text = name("method", in: section) else { return nil }
        let path = section.path / "method"
        guard text.isToken else {
            report(
                .definitionInvalidValue, "`\(text.prefix(80))` is not a method; expected a token such as `GET`",
                at: path)
            return nil
        }
        guard text != "CONNECT" else {
            report(.definitionInvalidValue, "`CONNECT` opens a tunnel, which a web service cannot use", at: path)
            return nil
        }
        let known = text.uppercased()
        if known != text, ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"].contains(known) {
            report(
                .definitionInvalidValue,
                "methods are case-sensitive, and servers may not know `\(text)`; write `\(known)`",
                at: path, severity: .warning)
        }
        return text
    }

    private mutating func path(in section: Section) -> PathTemplate {
        let path = section.path / "path"
        guard section.values["path"] != nil else {
            report(
                .definitionMissingKey, "`path` is missing; the request is sent to the base URL", at: path,
                severity: .warning)
            return PathTemplate(Template("") { _ in })
        }
        guard let text = string("path", in: section) else { return PathTemplate(Template("") { _ in }) }
        let template = PathTemplate(template(text, at: path, isURL: true))
        if let fragment = template.fragment {
            report(
                .definitionIgnored,
                "`\(fragment.prefix(40))` is a fragment, which is never sent; write `%23` for a `#`",
                at: path, severity: .warning)
        }
        if template.isFullURL, !bool("allowsFullURL", in: section) {
            report(
                .definitionInvalidValue,
                "a path is relative to the base URL, but this is a full URL; set `allowsFullURL` to allow it", at: path)
        } else if !template.hasSoundOrigin {
            report(.definitionInvalidValue, "the host of a full URL cannot contain indicators; write it out", at: path)
        } else if !template.isFullURL {
            _ = bool("allowsFullURL", in: section)
        }
        return template
    }

    // MARK: Header fields

    static let excludeKey = "excludeSharedHeader"

    /// Reads header fields whose values may have indicators.
    private mutating func headers(in section: Section) -> [(name: String, value: Template)] {
        var headers: [(name: String, value: Template)] = []
        for (name, value) in section.values.sorted(by: { $0.key < $1.key }) where name != Self.excludeKey {
            guard isFieldName(name, in: section), let template = template(value, at: section.path / name) else {
                continue
            }
            let isSound = template.pieces.allSatisfy { piece in
                if case .literal(let text) = piece { text.isFieldValue } else { true }
            }
            guard isSound else {
                reportControlCharacter(name, in: section)
                continue
            }
            headers.append((name, template))
        }
        return headers
    }

    /// Reads the header fields shared by web services, which have no indicators.
    mutating func sharedHeaders(_ value: DocumentValue) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        guard let section = section(value, at: DocumentPath()) else { return headers }
        for (name, value) in section.values.sorted(by: { $0.key < $1.key }) where name != Self.schemaKey {
            guard isFieldName(name, in: section) else { continue }
            let text: String
            switch value {
            case .string(let string): text = string
            case .bool, .integer, .number:
                guard let template = template(value, at: section.path / name), let literal = template.literal else {
                    continue
                }
                text = literal
            default:
                let _: Never? = wrongType(value, expected: "a string", at: section.path / name)
                continue
            }
            guard text.isFieldValue else {
                reportControlCharacter(name, in: section)
                continue
            }
            headers.add(name, text.trimmedFieldValue)
        }
        return headers
    }

    private mutating func isFieldName(_ name: String, in section: Section) -> Bool {
        guard name.isToken else {
            let words = "`\(name.prefix(80))` is not the name of a header field, which is a token such as `Accept`"
            report(.definitionInvalidValue, words, at: section.path / name)
            return false
        }
        guard !["content-length", "transfer-encoding", "host"].contains(name.lowercased()) else {
            ignored(name, in: section, "the client sends it")
            return false
        }
        return true
    }

    private mutating func reportControlCharacter(_ name: String, in section: Section) {
        let words = "the value of `\(name)` contains a control character, such as a line break"
        report(.definitionInvalidValue, words, at: section.path / name)
    }

    // MARK: Serialization

    static let serializationKeys = ["serializer", "serializator", "serializedObject"]

    mutating func serialization(_ section: Section) -> (serializer: String?, model: String?) {
        reportUnknownKeys(in: section, known: Self.serializationKeys)
        let (old, new) = (name("serializator", in: section), name("serializer", in: section))
        if old != nil, new != nil {
            ignored("serializator", in: section, "`serializer` is used")
        }
        let serializer = new ?? old, model = name("serializedObject", in: section)
        if let serializer, let names {
            require(
                serializer, "serializer", among: names.serializers,
                at: section.path / (new != nil ? "serializer" : "serializator"))
        }
        if let model, let models = names?.models {
            require(model, "model", among: models, at: section.path / "serializedObject")
        }
        return (serializer, model)
    }

    private mutating func require(_ name: String, _ noun: String, among names: [String], at path: DocumentPath) {
        guard !names.contains(name) else { return }
        let suggestions = NameSuggestions(for: name, among: names)
        let rest = names.isEmpty ? "none is" : "\(suggestions.list) \(names.count == 1 ? "is" : "are")"
        report(.definitionUnknownName, "no \(noun) `\(name)` is registered; \(rest)", at: path)
    }
}
