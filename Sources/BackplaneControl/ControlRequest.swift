public import Backplane
public import BackplaneHost

/// How a host program answers one kind of request; besides its own ones a ``ControlSocket`` takes those a program gives it.
public struct ControlRequest: Sendable {
    let name: String
    /// It is given up when whoever asked is gone.
    let endsWithClient: Bool
    let answer: @Sendable (PluginHost, [UInt8], ControlWork) async throws(BackplaneError) -> [UInt8]

    /// - Parameter answer: runs on a thread of the socket's own, which it may occupy.
    public init<Message: ControlMessage>(
        _ message: Message.Type, _ answer: @escaping @Sendable (PluginHost, Message) async throws(BackplaneError) -> Message.Answer
    ) {
        self.init(message, endsWithClient: false) { host, message, _ throws(BackplaneError) in try await answer(host, message) }
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
