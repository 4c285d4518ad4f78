public import Backplane
public import BackplaneHost

/// A handler for one kind of request, with which a program extends its ``ControlSocket``.
public struct ControlRequest: Sendable {
    let name: String
    /// A Boolean value that indicates whether the request is abandoned when its client disconnects.
    let endsWithClient: Bool
    /// A Boolean value that indicates whether the request serves recovery and therefore has reserved permits.
    let endsTrouble: Bool
    /// A Boolean value that indicates whether the client determines the duration of the request.
    let isLasting: Bool
    let answer: @Sendable (PluginHost, [UInt8], ControlWork) async throws(BackplaneError) -> [UInt8]

    /// Creates a handler for a type of request.
    ///
    /// - Parameters:
    ///   - message: The type of the request.
    ///   - endsWithClient: Whether the request's task is cancelled and abandoned when its client disconnects, as it
    ///     should be for a request that only reads.
    ///   - answer: The function that answers the request, on one of the socket's own threads, which it may block.
    public init<Message: ControlMessage>(
        _ message: Message.Type, endsWithClient: Bool = false,
        _ answer: @escaping @Sendable (PluginHost, Message) async throws(BackplaneError) -> Message.Answer
    ) {
        self.init(message, endsWithClient: endsWithClient) { host, message, _ throws(BackplaneError) in
            try await answer(host, message)
        }
    }

    init<Message: ControlMessage>(
        _: Message.Type, endsWithClient: Bool, endsTrouble: Bool = false, isLasting: Bool = false,
        _ answer: @escaping @Sendable (PluginHost, Message, ControlWork) async throws(BackplaneError) -> Message.Answer
    ) {
        (name, self.endsWithClient) = (Message.name, endsWithClient)
        (self.endsTrouble, self.isLasting) = (endsTrouble, isLasting)
        self.answer = { host, bytes, work throws(BackplaneError) in
            let message = try ControlText.message(Message.self, in: bytes)
            return try JSON.encode(try await answer(host, message, work), failing: .controlFailed)
        }
    }
}
