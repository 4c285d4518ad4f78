import Backplane
import BackplaneNetwork
public import FoundationEssentials

/// Values of the pattern's parameters.
extension RouteRequest {
    /// Returns the decoded text of a parameter of the path.
    ///
    /// - Throws: `call.invalid-input` if the pattern has no such parameter.
    public func parameter(_ name: String) throws -> String {
        guard let text = parameters[name] else {
            throw BackplaneError(.callInvalidInput, "the route `\(route)` has no parameter `\(name)`")
        }
        return text
    }

    /// Returns the value of a parameter as a type that a string describes, such as `Int`.
    ///
    /// - Throws: A ``RouteProblem`` with the status 400 that names the parameter, if its value is not of the type.
    public func parameter<Value: LosslessStringConvertible>(
        _ name: String, as _: Value.Type = Value.self
    ) throws -> Value {
        let text: String = try parameter(name)
        guard let value = Value(text) else {
            throw RouteProblem(field: name, of: "path", Mistake.expected(Value.self, found: text))
        }
        return value
    }

    /// Returns the value of a parameter as a UUID.
    ///
    /// - Throws: A ``RouteProblem`` with the status 400 that names the parameter, if its value is not a UUID.
    @_disfavoredOverload
    public func parameter(_ name: String, as _: UUID.Type = UUID.self) throws -> UUID {
        let text: String = try parameter(name)
        guard let value = UUID(uuidString: text) else {
            throw RouteProblem(field: name, of: "path", Mistake.expected(UUID.self, found: text))
        }
        return value
    }
}

/// Values of the query, and of a form.
extension RouteRequest {
    /// Returns the value of a field of the query; `nil` if the query has none.
    ///
    /// - Throws: A ``RouteProblem`` with the status 400 that names the field, if its value is not of the type, or it
    ///   occurs more than once.
    public func query<Value: LosslessStringConvertible>(
        _ name: String, as _: Value.Type = Value.self
    ) throws -> Value? {
        let values = try queryFields().values(name)
        guard let text = values.first else { return nil }
        guard values.count == 1 else {
            throw RouteProblem(field: name, of: "query", Mistake.repeated(values.count))
        }
        guard let value = Value(text) else {
            throw RouteProblem(field: name, of: "query", Mistake.expected(Value.self, found: text))
        }
        return value
    }

    /// Returns the value of a field of the query, or a default value if the query has none.
    ///
    /// - Throws: The errors of ``query(_:as:)``.
    public func query<Value: LosslessStringConvertible>(_ name: String, default value: Value) throws -> Value {
        try query(name, as: Value.self) ?? value
    }

    /// Decodes the query into a type with a property for each field.
    ///
    /// ```swift
    /// struct Search: Decodable {
    ///     var text: String, tags: [String], page: Int?
    /// }
    /// let search = try request.query(as: Search.self)  // text=whale&tags=sea&tags=novel
    /// ```
    ///
    /// An array contains the values of all fields of its name, and may be empty. An empty value of an optional property
    /// is `nil`. Dates are in ISO 8601. Properties cannot have properties of their own.
    ///
    /// - Throws: A ``RouteProblem`` with the status 400 that names the field, or for more than 1,000 fields.
    public func query<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try queryFields().decode(type, of: "query")
    }

    /// Decodes the body, a form of the type `application/x-www-form-urlencoded`, as ``query(as:)`` decodes a query.
    ///
    /// - Throws: A ``RouteProblem`` with the status 400 that names the field; with the status 415 for a body of another
    ///   type.
    public func form<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let expected = "application/x-www-form-urlencoded"
        try requireMediaType("`\(expected)`") { $0 == expected }
        guard let text = String(validating: try wholeBody(), as: UTF8.self) else {
            throw RouteProblem(400, "the form is not in UTF-8")
        }
        return try FormFields(text, of: "form").decode(type, of: "form")
    }

    private func queryFields() throws -> FormFields { try FormFields(query ?? "", of: "query") }
}

/// The body as a value.
extension RouteRequest {
    /// Decodes the body, which is JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: The decoder. By default, dates are in ISO 8601, and keys are unchanged.
    /// - Throws: A ``RouteProblem`` with the status 400 that names the field by its path, such as `authors/0/name`;
    ///   with the status 415 for a body of another media type.
    public func body<Value: Decodable>(as type: Value.Type = Value.self, decoder: JSONDecoder? = nil) throws -> Value {
        try requireMediaType("`application/json`") { $0 == "application/json" || $0.hasSuffix("+json") }
        let bytes = try wholeBody()
        do {
            return try (decoder ?? RouteJSON.decoder).decode(type, from: Data(bytes))
        } catch {
            throw RouteProblem(decoding: "body", error)
        }
    }

    /// Checks the media type of the body; a request may have none.
    private func requireMediaType(_ expected: String, _ isExpected: (String) -> Bool) throws(RouteProblem) {
        guard let field = headers["Content-Type"] else { return }
        let type = String(field.prefix { $0 != ";" }).trimmingBlanks.lowercased()
        guard isExpected(type) else {
            throw RouteProblem(415, "expected a body of the type \(expected), found `\(type)`")
        }
    }

    /// Returns the body, even if it is in a file.
    private func wholeBody() throws -> [UInt8] {
        guard let file else { return body ?? [] }
        return Array(try Data(contentsOf: URL(filePath: file)))
    }
}

/// Values of header fields.
extension RouteRequest {
    /// The percent-decoded cookies by name; the first one if several have the same name.
    ///
    /// ``RouteResponse/setCookie(_:_:path:maxAge:isSecure:isHTTPOnly:sameSite:)`` encodes cookies accordingly.
    public var cookies: [String: String] {
        var cookies: [String: String] = [:]
        for pair in headers.values("Cookie").flatMap({ $0.utf8.split(separator: UInt8(ascii: ";")) }) {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = Substring(pair[..<equals]).trimmingBlanks
            let value = String(Substring(pair[pair.index(after: equals)...]).trimmingBlanks)
            if cookies[String(name)] == nil {
                cookies[String(name)] = String(validating: value.percentDecoded, as: UTF8.self) ?? value
            }
        }
        return cookies
    }

    /// The identifier of the last event that the client has received, after which events continue; `nil` without one.
    public var lastEventID: String? { headers["Last-Event-ID"].flatMap { $0.isEmpty ? nil : $0 } }
}
