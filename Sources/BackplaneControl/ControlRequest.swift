public import Backplane
public import BackplaneHost

/// A handler for one kind of request, by which a program extends what its ``ControlSocket`` answers.
public struct ControlRequest: Sendable {
    let name: String
    /// A Boolean value that indicates whether the request is abandoned when its client disconnects.
    let endsWithClient: Bool
    let answer: @Sendable (PluginHost, [UInt8], ControlWork) async throws(BackplaneError) -> [UInt8]

    /// Creates a handler for a type of request.
    ///
    /// - Parameters:
    ///   - message: The type of the request.
    ///   - answer: The function that answers it, on a thread of the socket's own, which it may block.
    public init<Message: ControlMessage>(
        _ message: Message.Type,
        _ answer: @escaping @Sendable (PluginHost, Message) async throws(BackplaneError) -> Message.Answer
    ) {
        self.init(message, endsWithClient: false) { host, message, _ throws(BackplaneError) in
            try await answer(host, message)
        }
    }

    init<Message: ControlMessage>(
        _: Message.Type, endsWithClient: Bool,
        _ answer: @escaping @Sendable (PluginHost, Message, ControlWork) async throws(BackplaneError) -> Message.Answer
    ) {
        (name, self.endsWithClient) = (Message.name, endsWithClient)
        self.answer = { host, bytes, work throws(BackplaneError) in
            let message = try ControlText.message(Message.self, in: bytes)
            return try JSON.encode(try await answer(host, message, work), failing: .controlFailed)
        }
    }
}
