public import Backplane
public import BackplaneNetwork

/// An answer that is sent in pieces: its status and header fields, and the function that writes its body.
///
/// ```swift
/// routes.stream("/books.csv") { me, request, call in
///     let books = try await me.wires.library.all(call)  // an error here is still an answer of its own
///     return RouteStream(type: "text/csv") { body in
///         for book in books { try await body.send(book.line) }
///     }
/// }
/// ```
///
/// The status and the header fields are sent before the function runs. An error of the function ends the connection.
public struct RouteStream {
    /// The status code, from 200 to 599.
    public var status: Int
    /// The header fields; the server adds the fields that frame the message.
    public var headers: HTTPHeaders
    let write: nonisolated(nonsending) (StreamSender<RoutePart>) async throws -> Void

    private init(
        status: Int, headers: HTTPHeaders,
        parts write: nonisolated(nonsending) @escaping (StreamSender<RoutePart>) async throws -> Void
    ) {
        (self.status, self.headers, self.write) = (status, headers, write)
    }

    /// Creates an answer whose body a function writes.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - type: The media type.
    ///   - write: A function that sends the body, and returns after the last bytes.
    public init(
        status: Int = 200, type: String = "application/octet-stream",
        _ write: nonisolated(nonsending) @escaping (RouteBody) async throws -> Void
    ) {
        self.init(status: status, headers: ["Content-Type": type]) { parts in try await write(RouteBody(parts)) }
    }

    /// Creates an answer whose body is a sequence of chunks, such as the body of another server's response.
    public init<Chunks: AsyncSequence>(
        _ chunks: Chunks, status: Int = 200, type: String = "application/octet-stream"
    ) where Chunks.Element == [UInt8] {
        self.init(status: status, type: type) { body in
            for try await chunk in chunks { try await body.send(chunk) }
        }
    }

    /// Creates an event stream, in which each event repeats the last identifier.
    ///
    /// The repetition makes no difference to clients, and lets a stream continue after any event.
    init<Events: AsyncSequence>(events: Events, after last: String?) where Events.Element == ServerEvent {
        let headers: HTTPHeaders = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
        self.init(status: 200, headers: headers) { parts in
            var last = last ?? ""
            for try await event in events {
                var event = event
                if event.id.isEmpty { event.id = last }
                last = event.id
                try await parts.send(.event(event))
            }
        }
    }
}

/// The sender of a body in pieces.
public struct RouteBody: Sendable {
    private let parts: StreamSender<RoutePart>

    init(_ parts: StreamSender<RoutePart>) { self.parts = parts }

    /// Sends bytes, and returns when the server has taken them.
    ///
    /// - Throws: `call.cancelled` if the client has left or the component is replaced.
    public nonisolated(nonsending) func send(_ bytes: [UInt8]) async throws(BackplaneError) {
        // An encoded stream keeps 64 elements, which are then 4 MB.
        let size = 64 << 10
        for start in stride(from: 0, to: bytes.count, by: size) {
            let isWhole = bytes.count <= size
            try await parts.send(.body(isWhole ? bytes : Array(bytes[start..<min(start + size, bytes.count)])))
        }
    }

    /// Sends text in UTF-8, and returns when the server has taken it.
    ///
    /// - Throws: The errors of sending bytes.
    public nonisolated(nonsending) func send(_ text: String) async throws(BackplaneError) {
        try await send(Array(text.utf8))
    }
}
