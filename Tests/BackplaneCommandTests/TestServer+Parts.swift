import BackplaneTestKit
import Synchronization

extension TestServer {
    /// Starts a server of one file, with parts, whose first responses stop in the middle until the client leaves.
    ///
    /// - Parameters:
    ///   - content: The file.
    ///   - stalls: The number of responses that stop.
    ///   - requests: Receives the values of `Range`, empty where there was none.
    convenience init(
        parts content: [UInt8], stalls: Int, _ requests: Recording<String> = Recording()
    ) throws {
        let count = Mutex(0)
        try self.init { request, connection in
            let number = count.withLock { count in
                count += 1
                return count
            }
            requests.add(request["Range"] ?? "")
            let from = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let body = Array(content[from...]), range = "bytes \(from)-\(content.count - 1)/\(content.count)"
            let fields = [("ETag", "\"1\"")] + (from > 0 ? [("Content-Range", range)] : [])
            let status = from > 0 ? "206 Partial Content" : "200 OK"
            guard number <= stalls else { return connection.answer(status, fields, body: body) }
            let lines = fields.map { "\($0): \($1)\r\n" }.joined()
            connection.send("HTTP/1.1 \(status)\r\n\(lines)Content-Length: \(body.count)\r\n\r\n")
            connection.send(body.prefix(body.count * 6 / 10))
            connection.stall()
        }
    }
}
