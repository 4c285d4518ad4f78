import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// An argument of a call.
struct Argument: Sendable {
    var value: DocumentValue
    /// The argument as an encoder writes it, with numbers that a `DocumentValue` would round.
    private(set) var json: Data?
    /// The files in the argument, keyed by the properties and positions that lead to them.
    private(set) var files: [[String]: FilePart] = [:]
    /// A Boolean value that indicates whether the value has a number that is not exact.
    private(set) var isRounded = false

    init(_ value: DocumentValue) { self.value = value }

    /// Creates an argument from what a caller passes.
    ///
    /// - Throws: `definition.arguments` for a value that cannot be encoded.
    init(_ argument: (any Encodable)?, at index: Int) throws(BackplaneError) {
        switch argument {
        case nil: value = .null
        case let text as String: value = .string(text)
        case let number as Int: value = .integer(Int64(number))
        case let bool as Bool: value = .bool(bool)
        case let data as Data: value = .data(data)
        // An empty array of any other type could be cast, too.
        case let bytes as [UInt8] where type(of: argument!) == [UInt8].self: value = .data(Data(bytes))
        case let argument?:
            let attachments = Attachments()
            do {
                let json = try attachments.encoder.encode(argument)
                (value, self.json) = (try DocumentValue(json: json), json)
            } catch {
                throw BackplaneError(.definitionArguments, "the argument \(index) cannot be encoded: \(error)")
            }
            files = attachments.found.withLock(\.files)
            for (path, data) in attachments.found.withLock(\.data) { value.put(data, at: path[...]) }
            value.visit { value, _, _ in
                if case .number(let number) = value, number.magnitude >= 0x1p63 { isRounded = true }
            }
        }
    }
}

extension CodingUserInfoKey {
    static let attachments = CodingUserInfoKey(rawValue: "backplane.attachments")!
}

/// The files and the data that an encoder finds, which JSON could not distinguish from other values.
final class Attachments: Sendable {
    let found = Mutex<(files: [[String]: FilePart], data: [[String]: Data])>(([:], [:]))

    func add(_ file: FilePart, at path: [any CodingKey]) { found.withLock { $0.files[Self.steps(path)] = file } }

    private static func steps(_ path: [any CodingKey]) -> [String] {
        path.map { $0.intValue.map(String.init) ?? $0.stringValue }
    }

    var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.userInfo[.attachments] = self
        encoder.dataEncodingStrategy = .custom { data, encoder in
            self.found.withLock { $0.data[Self.steps(encoder.codingPath)] = data }
            var container = encoder.singleValueContainer()
            try container.encode(data.base64EncodedString())
        }
        return encoder
    }
}

extension DocumentValue {
    /// Replaces a value in the value by data.
    fileprivate mutating func put(_ data: Data, at path: ArraySlice<String>) {
        guard let step = path.first else {
            self = .data(data)
            return
        }
        switch self {
        case .dictionary(var members):
            members[step]?.put(data, at: path.dropFirst())
            self = .dictionary(members)
        case .array(var elements):
            if let index = Int(step), elements.indices.contains(index) {
                elements[index].put(data, at: path.dropFirst())
            }
            self = .array(elements)
        default: break
        }
    }

    /// The text of a string, a number or a Boolean value; `nil` for any other value.
    var text: String? {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): value.isFinite ? "\(value)" : nil
        case .string(let value): value
        case .null, .data, .date, .array, .dictionary: nil
        }
    }
}

/// The arguments of one call, which become the parts of its request.
struct Arguments: Sendable {
    let values: [Argument]
    let method: DefinedMethod
    let files: FileArguments

    func refused(_ reason: String) -> BackplaneError {
        BackplaneError(.definitionArguments, reason, at: method.selector)
    }

    // MARK: Values

    /// Returns the value of an indicator; a missing property counts as null, because encoders omit null properties.
    ///
    /// - Parameter isWhole: A Boolean value that indicates whether the value is sent as the caller's encoder wrote it.
    /// - Throws: `definition.arguments` if a value on the path has no properties, or for a file.
    private func value(_ indicator: Indicator, isWhole: Bool = false) throws(BackplaneError) -> DocumentValue {
        let argument = values[indicator.index]
        guard !argument.files.keys.contains(where: { $0.starts(with: indicator.properties) }) else {
            throw refused("\(indicator.subject) contains a file; name it in `files`")
        }
        guard isWhole || !argument.isRounded else {
            throw refused("\(indicator.subject) contains a number beyond 64 bits; pass it as a string")
        }
        return try property(indicator)
    }

    private func property(_ indicator: Indicator) throws(BackplaneError) -> DocumentValue {
        var value = values[indicator.index].value
        for name in indicator.properties {
            switch value {
            case .null: return .null
            case .dictionary(let members): value = members[name] ?? .null
            default:
                let found = "\(value.kind) has no property `\(name)`"
                throw refused("the argument \(indicator.index) is read as \(indicator.text), but \(found)")
            }
        }
        return value
    }

    /// Returns the text of an indicator; `nil` for null.
    ///
    /// - Parameters:
    ///   - place: The part of the request for which the text is intended, with its article, for errors.
    ///   - encoded: A function that encodes a string for that part; the commas between the elements of an array are not
    ///     encoded.
    private func text(
        _ indicator: Indicator, in place: String, _ encoded: (String) -> String = { $0 }
    ) throws(BackplaneError) -> String? {
        let argument = values[indicator.index]
        if indicator.properties.isEmpty, case .number = argument.value, let json = argument.json {
            return encoded(String(decoding: json, as: UTF8.self))
        }
        return try text(of: value(indicator), indicator.subject, in: place, encoded)
    }

    private func text(
        of value: DocumentValue, _ subject: String, in place: String, _ encoded: (String) -> String
    ) throws(BackplaneError) -> String? {
        switch value {
        case .null: return nil
        case .array(let elements):
            var texts: [String] = []
            for element in elements where element != .null {
                guard let text = element.text else {
                    let found = "an array that contains \(element.kind)"
                    throw refused("\(subject) is \(found); expected strings and numbers for \(place)")
                }
                texts.append(encoded(text))
            }
            return texts.joined(separator: ",")
        default:
            guard let text = value.text else {
                throw refused(
                    "\(subject) is \(value.kind), which \(place) cannot contain; name a property, as in `%0[name]`")
            }
            return encoded(text)
        }
    }

    /// Returns the text of a part of the request; `nil` if an argument in it is null.
    private func text(
        of pieces: [Template.Piece], in place: String, _ encoded: (String) -> String = { $0 }
    ) throws(BackplaneError) -> String? {
        var text = ""
        for piece in pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .indicator(let indicator):
                guard let value = try self.text(indicator, in: place, encoded) else { return nil }
                text += value
            }
        }
        return text
    }

    // MARK: Fields

    /// Returns named fields, without null fields.
    private func fields(
        _ templates: FieldTemplates, in place: String
    ) throws(BackplaneError) -> [(name: String, value: String)] {
        switch templates {
        case .listed(let listed):
            var fields: [(name: String, value: String)] = []
            for (name, template) in listed {
                guard let value = try text(of: template.pieces, in: place) else { continue }
                fields.append((name, value))
            }
            return fields
        case .properties(let indicator):
            switch try value(indicator) {
            case .null: return []
            case .dictionary(let members): return try fields(of: members, indicator.subject, in: place)
            case let value:
                let found = "\(indicator.subject) is \(value.kind)"
                throw refused("\(found); expected an object, whose properties become fields of \(place)")
            }
        }
    }

    /// Returns the members of an object as fields, without nulls, sorted, and with `remoteId` renamed to `id`.
    private func fields(
        of members: [String: DocumentValue], _ subject: String, in place: String,
        _ encoded: (String) -> String = { $0 }
    ) throws(BackplaneError) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for (key, member) in members {
            guard let value = try text(of: member, "`\(key)` of \(subject)", in: place, encoded) else { continue }
            fields.append((key == "remoteId" && members["id"] == nil ? "id" : key, value))
        }
        return fields.sorted { $0.name < $1.name }
    }

    // MARK: The parts of the request

    /// Returns the path with its query.
    func path() throws(BackplaneError) -> String {
        let template = method.request.path
        guard let own = try text(of: template.path, in: "a path", { $0.percentEncoded() }) else {
            throw refused("an argument of the path is null")
        }
        // The network checks only paths that are relative to a base URL.
        guard !template.isFullURL || !EndpointURL.hasDotSegment(own) else {
            throw refused("an argument makes a segment `.` or `..` of the path")
        }
        var query: [String] = []
        for field in template.query {
            if let text = try queryField(field), !text.isEmpty { query.append(text) }
        }
        return template.origin + own + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// Returns a field of the query, or several for an object; `nil` if an argument in it is null.
    private func queryField(_ pieces: [Template.Piece]) throws(BackplaneError) -> String? {
        if pieces.count == 1, case .indicator(let indicator) = pieces[0], case .dictionary = try property(indicator),
            case .dictionary(let members) = try value(indicator)
        {
            let fields = try fields(of: members, indicator.subject, in: "a query") { $0.percentEncoded() }
            return fields.map { "\($0.name.percentEncoded())=\($0.value)" }.joined(separator: "&")
        }
        return try text(of: pieces, in: "a query") { $0.percentEncoded() }
    }

    /// Returns the fields of the query that follow the fields in the path.
    func query() throws(BackplaneError) -> [(name: String, value: String)] {
        guard case .query(let fields) = method.request.content else { return [] }
        return try self.fields(fields, in: "a query")
    }

    func headers() throws(BackplaneError) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        for (name, value) in try fields(method.request.headers, in: "a header") {
            guard name.isToken, !name.isSentByClient, value.isFieldValue else {
                throw refused(
                    name.isToken && !name.isSentByClient
                        ? "an argument gives the header field `\(name)` a control character, such as a line break"
                        : "an argument names a header field that is not a token, or that only the client sends")
            }
            headers.add(name, value.trimmedFieldValue)
        }
        return headers
    }

    /// Returns the body.
    func body() throws(BackplaneError) -> HTTPBody {
        let data = try unusedData(), body: HTTPBody
        switch method.request.content {
        case .none: body = data.map { .bytes(Array($0), type: Self.anyBytes) } ?? .none
        case .query: body = .none
        case .body(let template): body = try self.body(template)
        case .form(let fields): body = .form(try self.fields(fields, in: "a form"))
        case .multipart(let fields, let files):
            var parts = try self.fields(fields, in: "a form").map { HTTPPart.text($0.name, $0.value) }
            for file in files { parts += try self.parts(file) }
            body = .multipart(parts)
        }
        guard method.sessionType != .upload || data != nil || !body.isEmpty else {
            throw refused("an upload has a body; pass `Data`, or an argument that is not empty")
        }
        // A client does not send content with it (RFC 9110, section 9.3.8).
        guard method.method != "TRACE" || body.isEmpty else { throw refused("a TRACE request has no body") }
        return body
    }

    /// The media type of unknown data.
    private static let anyBytes = "application/octet-stream"

    /// Returns the data to which no indicator refers; `nil` if there is none.
    private func unusedData() throws(BackplaneError) -> Data? {
        var found: Data?
        for (index, argument) in values.enumerated() where !method.used.contains(index) {
            let subject = "the argument \(index) is \(argument.value.kind)"
            guard case .data(let data) = argument.value else {
                guard index < method.argumentCount || argument.value == .null else {
                    throw refused("\(subject), but no indicator names it; expected `Data`, the body")
                }
                continue
            }
            guard case .none = method.request.content else {
                throw refused("\(subject) that no indicator names, but the definition already specifies a body")
            }
            guard found == nil else {
                throw refused("two arguments are data that no indicator names; only one can be the body")
            }
            found = data
        }
        return found
    }

    /// Returns a body that the definition describes.
    private func body(_ template: BodyTemplate) throws(BackplaneError) -> HTTPBody {
        func json(_ data: Data) -> HTTPBody { .bytes(Array(data), type: "application/json") }
        switch template {
        case .value(.data(let data)): return .bytes(Array(data), type: Self.anyBytes)
        case .text(let template):
            guard let indicator = template.indicator else { return .text(try text(ofBody: template)) }
            let exact = indicator.properties.isEmpty ? values[indicator.index].json : nil
            return switch try value(indicator, isWhole: exact != nil) {
            case .null: .none
            case .data(let data): .bytes(Array(data), type: Self.anyBytes)
            case .string(let text): .text(text)
            case let value: json(exact ?? value.json)
            }
        case .value, .array, .object: return json(try value(template).json)
        }
    }

    private func value(_ template: BodyTemplate) throws(BackplaneError) -> DocumentValue {
        switch template {
        case .value(let value): return value
        case .text(let template):
            if let indicator = template.indicator { return try value(indicator) }
            return .string(try text(ofBody: template))
        case .array(let elements):
            return .array(try elements.map { element throws(BackplaneError) in try value(element) })
        case .object(let members):
            var values: [String: DocumentValue] = [:]
            for (name, member) in members { values[name] = try value(member) }
            return .dictionary(values)
        }
    }

    private func text(ofBody template: Template) throws(BackplaneError) -> String {
        guard let text = try text(of: template.pieces, in: "the body") else {
            throw refused("an argument of the text for the body is null")
        }
        return text
    }

    /// Returns the parts of a form for a file, or for an array of them.
    private func parts(_ indicator: Indicator) throws(BackplaneError) -> [HTTPPart] {
        let files = values[indicator.index].files, field = indicator.properties.last ?? "file"
        func part(_ value: DocumentValue, at path: [String]) throws(BackplaneError) -> HTTPPart {
            if let file = files[path] { return try self.files.part(file) }
            if let part = try self.files.part(value, of: field) { return part }
            throw refused(
                "\(indicator.subject) contains \(value.kind); expected a `FilePart` or a `StoredFile`, or an array of them"
            )
        }
        switch try property(indicator) {
        case .null: return []
        case .array(let elements):
            return try elements.enumerated().map { index, element throws(BackplaneError) in
                try part(element, at: indicator.properties + ["\(index)"])
            }
        case let value: return [try part(value, at: indicator.properties)]
        }
    }
}
