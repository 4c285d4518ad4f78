public import Backplane
public import BackplaneNetwork
public import FoundationEssentials

/// A web service that a file describes, whose methods are called as if they had been written in Swift.
///
/// ```swift
/// let pharmacies = try WebService(
///     named: "Pharmacies", baseURL: "https://health.example.org/v1", definition: .folder("definitions"), client: http)
/// let near: [Pharmacy] = try await pharmacies.searchWithZIPCode("1011")
/// ```
///
/// The definition is a property list or JSON in Nemo Connect's format, and is completely checked when the web service
/// is created. The client determines authentication, interceptors, retries and the executor.
@dynamicMemberLookup
public struct WebService: Sendable {
    /// The source of a definition.
    public enum Source: Sendable {
        /// The folder that contains `NCWebService+NAME.plist`, `NAME.plist` or `NAME.json`; the first that exists is
        /// used.
        case folder(String)
        /// The path of the file.
        case file(String)
        /// The URL of the file or the folder.
        case url(URL)
        /// The contents of the file.
        case data(Data)
    }

    /// The name of the web service, used to find its definition and in error messages.
    public let name: String
    /// The methods.
    public let definition: WebServiceDefinition
    /// The non-fatal problems of the definition.
    public let warnings: [DefinitionProblem]
    /// The client that loads endpoints of this web service, with its base URL and shared header fields.
    ///
    /// Its defaults apply to all methods: `pharmacies.client.defaults.credential = "health"`.
    public var client: HTTPClient
    let serializers: [String: any ResponseDecoder]
    let models: [String: any (Decodable & Sendable).Type]

    /// Reads a definition, and creates the methods that it describes.
    ///
    /// - Parameters:
    ///   - name: The name of the web service, which determines the name of its file in a folder.
    ///   - baseURL: The URL to which the paths of methods are relative.
    ///   - definition: The source of the definition. The file `NCWebService.plist` in the same folder contains header
    ///     fields for all requests, which replace the client's fields of the same names.
    ///   - client: The client of the exchanges.
    ///   - serializers: The serializers, keyed by the names that the definition uses; `NCJSONSerializer` is the
    ///     client's decoder, unless it is among them.
    ///   - models: The types of responses, keyed by the names that the definition uses.
    /// - Throws: `definition.unreadable`; another code of `definition` for a faulty definition, with all of its errors;
    ///   `network.invalid-request` for an invalid base URL.
    public init(
        named name: String, baseURL: String, definition: Source, client: HTTPClient,
        serializers: [String: any ResponseDecoder] = [:], models: [String: any (Decodable & Sendable).Type] = [:]
    ) throws(BackplaneError) {
        let content = try DefinitionContent(
            DefinitionFiles(definition, named: name), serializers: serializers.keys, models: models.keys.sorted())
        try self.init(
            named: name, baseURL: baseURL, content, client: client, serializers: serializers, models: models)
    }

    /// Creates a web service from files that have already been read.
    ///
    /// - Throws: `network.invalid-request` for an invalid base URL.
    package init(
        named name: String, baseURL: String, _ content: DefinitionContent, client: HTTPClient,
        serializers: [String: any ResponseDecoder] = [:], models: [String: any (Decodable & Sendable).Type] = [:]
    ) throws(BackplaneError) {
        try Self.require(baseURL: baseURL)
        (self.name, self.serializers, self.models) = (name, serializers, models)
        (definition, warnings) = (content.definition, content.warnings)
        self.client = client.relative(to: baseURL)
        for field in content.sharedHeaders.fields { self.client.defaults.headers[field.name] = field.value }
    }

    /// Requires a URL to which paths can be relative.
    ///
    /// - Throws: `network.invalid-request`.
    package static func require(baseURL: String) throws(BackplaneError) {
        _ = try Endpoint<Data>("GET", "").request(EndpointDefaults(baseURL: baseURL))
    }

    /// The method with a name; calling it fails if it does not exist.
    public subscript(dynamicMember name: String) -> WebServiceMethod { self[name] }

    /// The method with a name or a selector, such as `search:radius:`.
    public subscript(name: String) -> WebServiceMethod { WebServiceMethod(service: self, name: name) }
}

extension BackplaneError.Code {
    /// The file of a definition cannot be found or read.
    public static let definitionUnreadable = Self(rawValue: "definition.unreadable")
    /// A definition is not well-formed, or not a dictionary of methods.
    public static let definitionMalformed = Self(rawValue: "definition.malformed")
    /// A value in a definition has the wrong type.
    public static let definitionWrongType = Self(rawValue: "definition.wrong-type")
    /// A required key is missing.
    public static let definitionMissingKey = Self(rawValue: "definition.missing-key")
    /// A definition has a key that is not defined at its location.
    public static let definitionUnknownKey = Self(rawValue: "definition.unknown-key")
    /// A value has the right type, but cannot occur in a request.
    public static let definitionInvalidValue = Self(rawValue: "definition.invalid-value")
    /// An indicator is malformed, or refers to no argument.
    public static let definitionIndicator = Self(rawValue: "definition.indicator")
    /// A value has no effect at its location.
    public static let definitionIgnored = Self(rawValue: "definition.ignored")
    /// No serializer or model of that name is registered.
    public static let definitionUnknownName = Self(rawValue: "definition.unknown-name")
    /// The web service defines no method of that name, or more than one.
    public static let definitionUnknownMethod = Self(rawValue: "definition.unknown-method")
    /// The number of arguments is wrong, or an argument does not fit its position.
    public static let definitionArguments = Self(rawValue: "definition.arguments")
    /// The requested response type differs from the model that the definition names.
    public static let definitionWrongModel = Self(rawValue: "definition.wrong-model")
}
