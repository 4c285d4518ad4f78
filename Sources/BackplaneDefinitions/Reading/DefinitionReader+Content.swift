import Backplane
import BackplaneDocuments

extension DefinitionReader {
    /// Reads `files`, `parameters` and `body`, in this order of precedence.
    mutating func content(
        of section: Section, _ method: String, _ session: SessionType
    ) -> RequestTemplate.Content {
        if session != .upload { ignored("files", in: section, "only an `UploadTask` sends files") }
        let files = session == .upload ? files(in: section) : nil
        let parameters = parameters(in: section)
        if parameters != nil || files != nil {
            ignored("body", in: section, "the body is built from `\(parameters != nil ? "parameters" : "files")`")
        }
        let hasContent = files != nil || section.values["body"] != nil || parameters != nil
        if method == "TRACE", hasContent {
            // RFC 9110, section 9.3.8.
            report(.definitionInvalidValue, "a `TRACE` request has no content", at: section.path)
            return .none
        }
        if let files { return .multipart(parameters ?? .listed([]), files: files) }
        if let parameters {
            guard method == "GET" || method == "HEAD" else { return .form(parameters) }
            report(
                .definitionIgnored,
                "a `\(method)` request has no content, so the parameters are sent in the query",
                at: section.path / "parameters", severity: .warning)
            return .query(parameters)
        }
        guard let value = section.values["body"] else { return .none }
        return body(value, at: section.path / "body").map { .body($0) } ?? .none
    }

    private mutating func parameters(in section: Section) -> FieldTemplates? {
        let path = section.path / "parameters"
        switch section.values["parameters"] {
        case nil: return nil
        case .string(let text):
            guard let indicator = template(text, at: path).indicator else {
                report(
                    .definitionWrongType, "expected a dictionary, or an indicator of an object such as `%0`", at: path)
                return nil
            }
            return .properties(indicator)
        case .dictionary(let values):
            var fields: [(name: String, value: Template)] = []
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                if let template = template(value, at: path / name) { fields.append((name, template)) }
            }
            return .listed(fields)
        case .some(let value): return wrongType(value, expected: "a dictionary", at: path)
        }
    }

    private mutating func files(in section: Section) -> [Indicator]? {
        let path = section.path / "files"
        switch section.values["files"] {
        case nil: return nil
        case .string(let text): return file(text, at: path).map { [$0] }
        case .array(let values):
            return values.enumerated().compactMap { index, value in
                guard case .string(let text) = value else {
                    return wrongType(value, expected: "an indicator such as `%0`", at: path / index)
                }
                return file(text, at: path / index)
            }
        case .some(let value): return wrongType(value, expected: "an indicator such as `%0`", at: path)
        }
    }

    private mutating func file(_ text: String, at path: DocumentPath) -> Indicator? {
        if let indicator = template(text, at: path).indicator { return indicator }
        report(.definitionIndicator, "expected an indicator of files, such as `%0`, and nothing else", at: path)
        return nil
    }

    private mutating func body(_ value: DocumentValue, at path: DocumentPath) -> BodyTemplate? {
        switch value {
        case .data(let data): return .bytes(Array(data))
        case .string(let text):
            let template = template(text, at: path)
            return template.indicator.map { .argument($0) } ?? .text(template)
        case .array, .dictionary: return .json(json(value, at: path))
        default: return wrongType(value, expected: "a string, a dictionary or data", at: path)
        }
    }

    /// Reads JSON, whose depth is limited by the document's reader.
    private mutating func json(_ value: DocumentValue, at path: DocumentPath) -> JSONTemplate {
        switch value {
        case .string(let text):
            let template = template(text, at: path)
            return template.literal.map { .value(.text($0)) } ?? .text(template)
        case .array(let values):
            return .array(values.enumerated().map { json($0.element, at: path / $0.offset) })
        case .dictionary(let members):
            return .object(
                members.sorted { $0.key < $1.key }.map { (name: $0.key, value: json($0.value, at: path / $0.key)) })
        default: return .value(ArgumentValue(value))
        }
    }
}
