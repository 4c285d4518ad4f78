/// An event of a server's event stream.
public struct ServerEvent: Sendable, Equatable {
    /// The name of its type, which is `message` unless the server specifies another.
    public var name = "message"
    /// The data, without the last line break.
    public var data = ""
    /// The identifier of the last event that had one, from which a server can continue; empty if there was none.
    public var id = ""

    /// Creates an event as a server would send it, for tests.
    public init(name: String = "message", data: String = "", id: String = "") {
        (self.name, self.data, self.id) = (name, data, id)
    }
}
