package import BackplaneNetwork
import FoundationEssentials
import Glibc

/// The answer to a request for a file: whole, in part, or unchanged (RFC 9110, sections 13 and 14).
package struct FileAnswer: Sendable, Equatable {
    package var status: Int
    /// The header fields, without fields that frame the message.
    package var headers: HTTPHeaders
    /// The bytes of the file that are the body; a server sends none of them for the method `HEAD`.
    package var range: Range<Int64>

    /// Creates the answer to a request.
    ///
    /// - Parameters:
    ///   - response: The answer of the route, whose own `ETag` and `Last-Modified` are kept.
    ///   - size: The size of the file in bytes.
    ///   - modified: The time of the file's last change, since 1970.
    ///   - method: The request method; only `GET` has ranges.
    ///   - request: The header fields of the request.
    package init(
        _ response: RouteResponse, size: Int64, modified: (seconds: Int64, nanoseconds: Int64), method: String,
        _ request: HTTPHeaders
    ) {
        status = response.status
        headers = response.headers.filter { !HTTPHeaders.ofFraming.contains($0) }
        range = 0..<size
        guard status == 200, ["GET", "HEAD"].contains(method) else { return }
        if headers["ETag"] == nil {
            let time = modified.seconds &* 1_000_000_000 &+ modified.nanoseconds
            headers["ETag"] = "\"\(String(time, radix: 16))-\(String(size, radix: 16))\""
        }
        if headers["Last-Modified"] == nil { headers["Last-Modified"] = Self.date(modified.seconds) }
        headers["Accept-Ranges"] = "bytes"
        if isKnown(to: request) {
            (status, range) = (304, 0..<0)
            headers = headers.filter { $0 == "content-location" || !$0.hasPrefix("content-") }
        } else if method == "GET", isCurrent(request["If-Range"]),
            let part = request.range(of: size)
        {
            range = part
            status = part.isEmpty ? 416 : 206
            let place = part.isEmpty ? "*" : "\(part.lowerBound)-\(part.upperBound - 1)"
            headers["Content-Range"] = "bytes \(place)/\(size)"
        }
    }

    /// Returns whether the sender of a request already has the file, according to the request's conditions.
    private func isKnown(to request: HTTPHeaders) -> Bool {
        if let isListed = request.ifNoneMatch(headers["ETag"]) { return isListed }
        guard let since = request["If-Modified-Since"].flatMap({ Date(httpDate: $0) }),
            let changed = headers["Last-Modified"].flatMap({ Date(httpDate: $0) })
        else { return false }
        return changed <= since
    }

    /// Returns whether the file matches an `If-Range`, by a strong comparison.
    private func isCurrent(_ condition: String?) -> Bool {
        guard let condition else { return true }
        return condition == headers[condition.hasSuffix("\"") ? "ETag" : "Last-Modified"] && !condition.hasPrefix("W/")
    }

    /// Returns a time since 1970 as a date of HTTP (RFC 9110, section 5.6.7).
    private static func date(_ seconds: Int64) -> String {
        var time = time_t(seconds), parts = tm()
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][
            Int(parts.tm_mon)]
        let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(day), \(two(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(clock) GMT"
    }
}
