import Backplane
import FoundationEssentials

/// The JSON of requests and answers: Foundation's, with dates in ISO 8601.
enum RouteJSON {
    // Both can be shared: coding only reads their options, which never change.
    static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }()
    /// Foundation's own strategy for dates refuses fractions of seconds, and its errors do not name the field.
    static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let date = Date(iso8601: text) else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath, debugDescription: Mistake.expected(Date.self, found: text)))
            }
            return date
        }
        return decoder
    }()
}

extension Date {
    /// Parses a date in ISO 8601 with a time and a zone; the seconds may have fractions.
    init?(iso8601 text: String) {
        let isFractional = text.utf8.contains(UInt8(ascii: "."))
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: isFractional)
        guard let date = try? style.parse(text) else { return nil }
        self = date
    }
}

/// The words for a value that a request should not have.
enum Mistake {
    static let missing = "missing"

    static func repeated(_ count: Int) -> String { "expected one value, found \(count)" }

    static func expected(_ type: any Any.Type, found text: String) -> String {
        "expected \(name(of: type)), found `\(text.prefix(60))`"
    }

    /// Returns the words for the values of a type, such as "an integer".
    static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "a boolean"
        case is UUID.Type: "a UUID"
        case is Date.Type: "a date such as `1851-10-18T12:00:00Z`"
        case is any BinaryInteger.Type: "an integer"
        case is any BinaryFloatingPoint.Type, is Decimal.Type: "a number"
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        default: "a value of another kind"
        }
    }
}

extension RouteProblem {
    /// Creates the problem of a field.
    ///
    /// - Parameters:
    ///   - field: The field's name or, in JSON, its path.
    ///   - part: The part of the request, such as `query`.
    ///   - mistake: The words for its value.
    init(field: String, of part: String, _ mistake: String) {
        self.init(400, "the field `\(field)` of the \(part): \(mistake)", fields: [field: mistake])
    }

    /// Creates the problem of a part of a request that cannot be decoded.
    ///
    /// A problem thrown by a type with custom coding is kept. The message of any other error is shown only if the error
    /// is a ``ComponentError``, whose message is meant for callers.
    init(decoding part: String, _ error: any Error) {
        var mistake: String, path: [any CodingKey] = []
        switch error {
        case let problem as RouteProblem:
            self = problem
            return
        case DecodingError.keyNotFound(let key, let context):
            (mistake, path) = (Mistake.missing, context.codingPath + [key])
        case DecodingError.valueNotFound(let type, let context):
            (mistake, path) = ("expected \(Mistake.name(of: type)), found null", context.codingPath)
        case DecodingError.typeMismatch(let type, let context):
            (mistake, path) = ("expected \(Mistake.name(of: type))", context.codingPath)
        case DecodingError.dataCorrupted(let context):
            (mistake, path) = (context.debugDescription, context.codingPath)
            // Foundation's message for invalid JSON, and also for a number that does not fit its type.
            if mistake == "The given data was not valid JSON." {
                mistake = "expected JSON, found malformed text, or a number that is too large or not an integer"
            }
        case let error as any ComponentError: mistake = error.message
        default: mistake = "it cannot be decoded"
        }
        guard !path.isEmpty else {
            self.init(400, "the \(part): \(mistake)")
            return
        }
        let field = path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "/")
        self.init(field: field, of: part, mistake)
    }
}
