/// A method of a web service, as its definition describes it.
public struct DefinedMethod: Sendable {
    /// The name by which the method is called: the first part of a selector.
    public var name: String { names.base }
    /// The selector without the parts of its blocks, or the plain name.
    public var selector: String { names.selector }
    /// The number of arguments, not counting data that becomes the body.
    public let argumentCount: Int
    /// The kind of the exchange.
    public let sessionType: SessionType
    /// The method of the request, such as `GET`.
    public var method: String { request.method }
    /// The name of the serializer; `nil` means JSON.
    public let serializer: String?
    /// The name of the model that the response is decoded into; `nil` leaves the choice to the caller.
    public let model: String?

    let names: MethodName
    let request: RequestTemplate
    /// The indicators, in the order of their texts.
    let indicators: [Indicator]
    /// The positions of the arguments that indicators name.
    let used: Set<Int>

    /// A Boolean value that indicates whether a further argument may be the body.
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
