import BackplaneNetwork

/// The request of a method, with indicators in place of arguments.
struct RequestTemplate: Sendable {
    var method: String
    var path: PathTemplate
    /// The header fields, sorted by name.
    var headers: [(name: String, value: Template)] = []
    /// A Boolean value that indicates whether the shared header fields are omitted.
    var excludesSharedHeaders = false
    var content = Content.none

    /// The source of the request's content.
    enum Content: Sendable {
        /// The definition describes no content; data that no indicator names becomes the body.
        case none
        /// A body that the definition describes.
        case body(BodyTemplate)
        /// The fields of the query, for a method whose request has no content.
        case query(FieldTemplates)
        /// A form with fields.
        case form(FieldTemplates)
        /// A form with fields and files.
        case multipart(FieldTemplates, files: [Indicator])
    }
}

/// A body that a definition describes.
indirect enum BodyTemplate: Sendable {
    /// The bytes of a data value in a property list.
    case bytes([UInt8])
    /// An argument: data unchanged, a string as text, and anything else as JSON.
    case argument(Indicator)
    /// A string that contains arguments.
    case text(Template)
    /// JSON with arguments in place of its strings.
    case json(JSONTemplate)
}

/// JSON whose strings may contain indicators.
indirect enum JSONTemplate: Sendable {
    case value(ArgumentValue)
    /// A string; if it consists only of an indicator, it represents its argument of any type.
    case text(Template)
    case array([JSONTemplate])
    case object([(name: String, value: JSONTemplate)])
}

/// The fields of a form or a query.
enum FieldTemplates: Sendable {
    /// Fields that the definition lists, sorted by name.
    case listed([(name: String, value: Template)])
    /// The properties of an argument.
    case properties(Indicator)
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
