package import BackplaneNetwork
import FoundationEssentials

extension CachedResponse {
    /// The names of the fields to which a stored response answers with the status 304, or with a part of its body.
    static let conditions: Set<String> = ["if-modified-since", "if-none-match", "range"]

    /// Returns the response to a request: the whole one, its head with the status 304 if its sender has it already
    /// (RFC 9111, section 4.3.2), or a part of it (RFC 9110, section 14.2).
    package func answer(to request: HTTPRequest) -> HTTPResponse {
        var answer = HTTPResponse(status: status, headers: headers)
        guard status == 200 else {
            answer.body = Array(body)
            return answer
        }
        if isKnown(to: request) {
            answer.status = 304
            answer.headers = headers.filter { $0 == "content-location" || !$0.hasPrefix("content-") }
        } else if let range = request.headers["Range"], let part = Self.range(range, of: body.count) {
            answer.headers["Content-Length"] = "\(part.count)"
            guard !part.isEmpty else {
                (answer.status, answer.headers["Content-Range"]) = (416, "bytes */\(body.count)")
                return answer
            }
            answer.status = 206
            answer.headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
            answer.body = Array(body.dropFirst(part.lowerBound).prefix(part.count))
        } else {
            answer.body = Array(body)
        }
        return answer
    }

    /// Returns whether the conditions of a request say that its sender has the response.
    private func isKnown(to request: HTTPRequest) -> Bool {
        let tags = request.headers.values("If-None-Match").flatMap(\.listElements)
        guard tags.isEmpty else {
            let own = headers["ETag"].map(Self.weak)
            return tags.contains { $0 == "*" || own == Self.weak($0) }
        }
        guard let since = request.headers["If-Modified-Since"].flatMap({ Date(strictHTTPDate: $0) }) else {
            return false
        }
        let changed = headers["Last-Modified"] ?? headers["Date"]
        return (changed.map { Date(httpDate: $0) } ?? received).map { $0 <= since } ?? false
    }

    /// Returns an entity tag for a weak comparison (RFC 9110, section 8.8.3.2).
    static func weak(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// Returns the part of a body that a `Range` names, empty if the body has no such part; `nil` if the field names no
    /// bytes, or several parts.
    private static func range(_ text: String, of size: Int) -> Range<Int>? {
        guard text.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            return ends[1].wholeNumber.map { max(0, size - Int(min($0, Int64(size))))..<size }
        }
        guard let first = ends[0].wholeNumber else { return nil }
        guard let last = ends[1].isEmpty ? .max : ends[1].wholeNumber, first <= last else { return nil }
        return Int(min(first, Int64(size)))..<Int(min(last, Int64(size) - 1) + 1)
    }
}
