/// A method of a web service, as described by its definition.
public struct DefinedMethod: Sendable {
    /// The name by which the method is called: the first part of a selector.
    public var name: String { names.base }
    /// The selector without the parts of its blocks, or the plain name.
    public var selector: String { names.selector }
    /// The number of arguments, not counting data that becomes the body.
    public let argumentCount: Int
    /// The kind of the exchange.
    public let sessionType: SessionType
    /// The HTTP method of the request, such as `GET`.
    public var method: String { request.method }
    /// The name of the serializer; `nil` means JSON.
    public let serializer: String?
    /// The name of the model into which the response is decoded; `nil` leaves the choice to the caller.
    public let model: String?

    let names: MethodName
    let request: RequestTemplate
    /// The indicators, in the order in which they occur.
    let indicators: [Indicator]
    /// The positions of the arguments to which indicators refer.
    let used: Set<Int>

    /// A Boolean value that indicates whether an additional argument may be the body.
    private var mayHaveBody: Bool { if names.count == nil, case .none = request.content { true } else { false } }

    /// Returns whether the method can be called with a number of arguments.
    func accepts(_ count: Int) -> Bool { count == argumentCount || mayHaveBody && count == argumentCount + 1 }

    /// The name with a placeholder for each argument: `search(_:radius:)`.
    var signature: String {
        let labels = names.labels.map { "\($0):" }.joined()
        guard names.count == nil else { return "\(name)(\(argumentCount > 0 ? "_:" : "")\(labels))" }
        return "\(name)(\(String(repeating: "_:", count: argumentCount)))"
    }
}
