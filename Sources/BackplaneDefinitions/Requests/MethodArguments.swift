import Backplane

/// The arguments of one call, in the form required by its request.
struct MethodArguments: Sendable {
    let values: [ArgumentValue]
    /// The selector of the method, for errors.
    let method: String
    /// The files that the method may send.
    var files = FileArguments(folder: nil)

    /// Returns the value of an indicator; a missing property counts as null, because encoders omit null properties.
    ///
    /// - Throws: `definition.arguments` if a value on the path has no properties.
    func value(_ indicator: Indicator) throws(BackplaneError) -> ArgumentValue {
        var value = values[indicator.index]
        for name in indicator.properties {
            switch value {
            case .null: return .null
            case .object(let members): value = members[name] ?? .null
            default:
                throw refused(
                    "the argument \(indicator.index) is read as \(indicator.text), but \(value.kind) has no property `\(name)`"
                )
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
    func text(
        _ indicator: Indicator, in place: String, _ encoded: (String) -> String = { $0 }
    ) throws(BackplaneError) -> String? {
        try text(of: value(indicator), indicator.subject, in: place, encoded)
    }

    /// Returns the text of a template; `nil` if an argument in it is null.
    func text(of template: Template, in place: String) throws(BackplaneError) -> String? {
        if let literal = template.literal { return literal }
        var text = ""
        for piece in template.pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .indicator(let indicator):
                guard let value = try self.text(indicator, in: place) else { return nil }
                text += value
            }
        }
        return text
    }

    private func text(
        of value: ArgumentValue, _ subject: String, in place: String, _ encoded: (String) -> String
    ) throws(BackplaneError) -> String? {
        switch value {
        case .null: return nil
        case .array(let elements):
            var texts: [String] = []
            for element in elements {
                guard let text = scalar(element) else {
                    guard !element.isNull else { continue }
                    throw refused(
                        "\(subject) is an array that contains \(element.kind); "
                            + "expected strings and numbers for \(place)")
                }
                texts.append(encoded(text))
            }
            return texts.joined(separator: ",")
        default:
            guard let text = scalar(value) else {
                throw refused(
                    "\(subject) is \(value.kind), which \(place) cannot contain; name a property, as in `%0[name]`")
            }
            return encoded(text)
        }
    }

    private func scalar(_ value: ArgumentValue) -> String? {
        switch value {
        case .bool(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .text(let text): text
        default: nil
        }
    }

    /// Returns the properties of an object as named fields, without nulls, and with `remoteId` renamed to `id`.
    func fields(_ indicator: Indicator, in place: String) throws(BackplaneError) -> [(name: String, value: String)] {
        let value = try value(indicator)
        switch value {
        case .null: return []
        case .object(let members): return try fields(of: members, indicator.subject, in: place)
        default:
            throw refused("\(indicator.subject) is \(value.kind); expected an object, whose properties become \(place)")
        }
    }

    /// Returns the members of an object as fields, with values encoded for their part of the request.
    func fields(
        of members: [String: ArgumentValue], _ subject: String, in place: String,
        _ encoded: (String) -> String = { $0 }
    ) throws(BackplaneError) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for (key, member) in members {
            guard let value = try text(of: member, "`\(key)` of \(subject)", in: place, encoded) else { continue }
            fields.append((key == "remoteId" && members["id"] == nil ? "id" : key, value))
        }
        return fields.sorted { $0.name < $1.name }
    }

    func refused(_ reason: String) -> BackplaneError { BackplaneError(.definitionArguments, reason, at: method) }
}
