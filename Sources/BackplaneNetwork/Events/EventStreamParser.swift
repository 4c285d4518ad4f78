import Backplane

/// A parser of event streams (WHATWG, HTML, section 9.2.6) that reads each byte once.
struct EventStreamParser {
    /// The maximum number of bytes of a line, and of the data of one event.
    let limit: Int
    /// The maximum number of bytes of an identifier, because servers refuse header fields that are much longer.
    static let longestID = 4_096
    /// The identifier of the last event that had one.
    private(set) var lastID: String
    /// The delay before a reconnection that the server requests.
    private(set) var retry: Duration?
    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    /// The identifier that the next event sets.
    private var id: String
    private var isAfterCR = false
    /// A Boolean value that indicates whether a byte order mark may follow.
    private var isFirstLine = true

    init(lastID: String = "", retry: Duration? = nil, limit: Int = 1 << 20) {
        (self.lastID, id, self.retry, self.limit) = (lastID, lastID, retry, limit)
    }

    /// Processes bytes, and returns the events that they complete.
    ///
    /// - Throws: `network.too-large` for a line or an event that does not end within the limit.
    mutating func take(_ bytes: [UInt8]) throws(BackplaneError) -> [ServerEvent] {
        var events: [ServerEvent] = [], rest = bytes[...]
        while let byte = rest.first {
            if isAfterCR {
                isAfterCR = false
                if byte == UInt8(ascii: "\n") {
                    rest.removeFirst()
                    continue
                }
            }
            let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            line += rest[..<(end ?? rest.endIndex)]
            guard line.count <= limit, data.count <= limit else {
                throw BackplaneError(
                    .networkTooLarge,
                    "the event stream has a line or an event with more than \(limit) bytes, which is the limit"
                )
            }
            guard let end else { break }
            isAfterCR = rest[end] == UInt8(ascii: "\r")
            rest = rest[rest.index(after: end)...]
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[line.index(after: $0)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            data += value
            data.append(UInt8(ascii: "\n"))
            hasData = true
        case "id": if Self.isIdentifier(value) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            if !value.isEmpty, value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
                retry = .milliseconds(min(Int(String(decoding: value, as: UTF8.self)) ?? .max, 86_400_000))
            }
        default: break
        }
        return nil
    }

    /// Returns whether bytes are a valid identifier for `Last-Event-ID`; others are ignored.
    private static func isIdentifier(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count <= longestID && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private mutating func dispatch() -> ServerEvent? {
        lastID = id
        defer { (name, data, hasData) = ("", [], false) }
        guard hasData else { return nil }
        return ServerEvent(
            name: name.isEmpty ? "message" : name, data: String(decoding: data.dropLast(), as: UTF8.self), id: id)
    }
}
