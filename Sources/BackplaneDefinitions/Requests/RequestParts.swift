import Backplane
import BackplaneNetwork

/// The parts of the endpoint that results from a method and its arguments.
struct RequestParts: Sendable {
    var path: String
    var query: [(name: String, value: String)] = []
    var headers: HTTPHeaders
    var body: HTTPBody

    /// Creates the parts of a call.
    ///
    /// - Throws: `definition.arguments` for an argument that does not fit its position.
    init(_ method: DefinedMethod, _ arguments: MethodArguments) throws(BackplaneError) {
        let request = method.request
        path = try arguments.path(request.path)
        headers = try arguments.headers(request.headers)
        let data = try arguments.unusedData(of: method)
        switch request.content {
        case .none: body = data.map { HTTPBody.bytes($0, type: HTTPBody.anyBytes) } ?? HTTPBody.none
        case .body(let template): body = try arguments.body(template)
        case .query(let fields): (query, body) = (try arguments.fields(fields, in: "a field of the query"), .none)
        case .form(let fields): body = .form(try arguments.fields(fields, in: "a field of a form"))
        case .multipart(let fields, let files):
            var parts = try arguments.fields(fields, in: "a field of a form").map { HTTPPart.text($0.name, $0.value) }
            for file in files { parts += try arguments.parts(file) }
            body = .multipart(parts)
        }
        guard method.sessionType != .upload || data != nil || !body.isEmpty else {
            throw arguments.refused("an upload has a body; pass `Data`, or an argument that is not empty")
        }
        // A client does not send content with it (RFC 9110, section 9.3.8).
        guard method.method != "TRACE" || body.isEmpty else { throw arguments.refused("a TRACE request has no body") }
    }
}

extension HTTPBody {
    /// The media type of unknown data.
    fileprivate static let anyBytes = "application/octet-stream"
}

extension MethodArguments {
    fileprivate func path(_ template: PathTemplate) throws(BackplaneError) -> String {
        var path = template.origin
        for piece in template.path {
            switch piece {
            case .literal(let text): path += text
            case .indicator(let indicator):
                guard let text = try text(indicator, in: "a path", URLText.encoded) else {
                    throw refused("\(indicator.subject) is null, but it is a part of the path")
                }
                path += text
            }
        }
        // The network checks only paths that are relative to a base URL.
        guard !template.isFullURL || !EndpointURL.hasDotSegment(String(path.dropFirst(template.origin.count))) else {
            throw refused("an argument makes a segment `.` or `..` of the path")
        }
        var separator = "?"
        for field in template.query {
            guard let text = try queryField(field), !text.isEmpty else { continue }
            path += separator + text
            separator = "&"
        }
        return path
    }

    /// Returns a field of the query, or several for an object; `nil` if an argument in it is null.
    private func queryField(_ pieces: [Template.Piece]) throws(BackplaneError) -> String? {
        if pieces.count == 1, case .indicator(let indicator) = pieces[0],
            case .object(let members) = try value(indicator)
        {
            let fields = try fields(of: members, indicator.subject, in: "a field of the query", URLText.encoded)
            return fields.map { "\(URLText.encoded($0.name))=\($0.value)" }.joined(separator: "&")
        }
        var field = ""
        for piece in pieces {
            switch piece {
            case .literal(let text): field += text
            case .indicator(let indicator):
                guard let text = try text(indicator, in: "a field of the query", URLText.encoded) else { return nil }
                field += text
            }
        }
        return field
    }

    fileprivate func headers(_ templates: [(name: String, value: Template)]) throws(BackplaneError) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        for (name, template) in templates {
            guard let value = try text(of: template, in: "a header field") else { continue }
            guard value.isFieldValue else {
                throw refused("an argument gives the header field `\(name)` a control character, such as a line break")
            }
            headers.add(name, value.trimmedFieldValue)
        }
        return headers
    }

    fileprivate func fields(
        _ templates: FieldTemplates, in place: String
    ) throws(BackplaneError) -> [(name: String, value: String)] {
        switch templates {
        case .properties(let indicator): return try fields(indicator, in: place)
        case .listed(let listed):
            var fields: [(name: String, value: String)] = []
            for (name, template) in listed {
                guard let value = try text(of: template, in: place) else { continue }
                fields.append((name, value))
            }
            return fields
        }
    }

    fileprivate func parts(_ indicator: Indicator) throws(BackplaneError) -> [HTTPPart] {
        let value = try value(indicator)
        if value.isNull { return [] }
        guard case .array(let elements) = value else {
            guard let part = try part(value, indicator) else { throw noFile(indicator, value.kind) }
            return [part]
        }
        return try elements.map { element throws(BackplaneError) in
            guard let part = try part(element, indicator) else {
                throw noFile(indicator, "an array that contains \(element.kind)")
            }
            return part
        }
    }

    /// Returns the part for a file; `nil` for a value that does not describe one.
    private func part(_ value: ArgumentValue, _ indicator: Indicator) throws(BackplaneError) -> HTTPPart? {
        switch value {
        case .file(let file): try files.part(file)
        case .object(let members): try files.part(members, of: indicator.properties.last ?? "file")
        default: nil
        }
    }

    private func noFile(_ indicator: Indicator, _ found: String) -> BackplaneError {
        refused("\(indicator.subject) is \(found); expected a `FilePart` or a `StoredFile`, or an array of them")
    }

    /// Returns the data to which no indicator refers; `nil` if there is none.
    fileprivate func unusedData(of method: DefinedMethod) throws(BackplaneError) -> [UInt8]? {
        var found: [UInt8]?
        for (index, value) in values.enumerated() where !method.used.contains(index) {
            guard case .bytes(let bytes) = value else {
                guard index < method.argumentCount || value.isNull else {
                    throw refused(
                        "the argument \(index) is \(value.kind), but no indicator names it; expected `Data`, the body")
                }
                continue
            }
            guard case .none = method.request.content else {
                throw refused(
                    "the argument \(index) is data that no indicator names, but the definition already specifies a "
                        + "body")
            }
            guard found == nil else {
                throw refused("two arguments are data that no indicator names; only one can be the body")
            }
            found = bytes
        }
        return found
    }
}
