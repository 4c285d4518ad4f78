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
        } else if let part = request.headers.range(of: Int64(body.count)) {
            answer.headers["Content-Length"] = "\(part.count)"
            guard !part.isEmpty else {
                (answer.status, answer.headers["Content-Range"]) = (416, "bytes */\(body.count)")
                return answer
            }
            answer.status = 206
            answer.headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
            answer.body = Array(body.dropFirst(Int(part.lowerBound)).prefix(part.count))
        } else {
            answer.body = Array(body)
        }
        return answer
    }

    /// Returns whether the conditions of a request say that its sender has the response.
    private func isKnown(to request: HTTPRequest) -> Bool {
        if let isListed = request.headers.ifNoneMatch(headers["ETag"]) { return isListed }
        guard let since = request.headers["If-Modified-Since"].flatMap({ Date(strictHTTPDate: $0) }) else {
            return false
        }
        let changed = headers["Last-Modified"] ?? headers["Date"]
        return (changed.map { Date(httpDate: $0) } ?? received).map { $0 <= since } ?? false
    }

    /// Returns an entity tag for a weak comparison (RFC 9110, section 8.8.3.2).
    static func weak(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
