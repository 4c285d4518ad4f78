import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The cookies of one principal, in memory.
final class CookieJar: Sendable {
    /// The maximum number of cookies, beyond which the oldest are removed (RFC 6265, section 6.1).
    static let most = 3_000

    private let date: @Sendable () -> Date
    private let cookies = Mutex<[Cookie]>([])

    init(date: @escaping @Sendable () -> Date) { self.date = date }

    /// Stores the cookies set by a response.
    func receive(_ headers: HTTPHeaders, to request: HTTPRequest) {
        let fields = headers.values("Set-Cookie")
        guard !fields.isEmpty, let origin = HTTPOrigin(request.url) else { return }
        let now = date(), path = request.path
        cookies.withLock { cookies in
            for cookie in fields.compactMap({ Cookie($0, from: origin, path: path, now: now) }) {
                cookies.removeAll(where: cookie.replaces)
                if cookie.expiry.map({ $0 > now }) ?? true { cookies.append(cookie) }
            }
            cookies.removeFirst(max(0, cookies.count - Self.most))
        }
    }

    /// Returns a request with the matching cookies, unless it has cookies of its own.
    func request(_ request: HTTPRequest) -> HTTPRequest {
        guard request.headers["Cookie"] == nil, let origin = HTTPOrigin(request.url) else { return request }
        let now = date(), path = request.path
        let pairs = cookies.withLock { cookies in
            cookies.removeAll { $0.expiry.map { $0 <= now } ?? false }
            return cookies.filter { $0.matches(origin, path: path, now: now) }
                .enumerated().sorted { a, b in
                    let (first, second) = (a.element.path.utf8.count, b.element.path.utf8.count)
                    return first != second ? first > second : a.offset < b.offset
                }.map { "\($0.element.name)=\($0.element.value.revealed)" }
        }
        guard !pairs.isEmpty else { return request }
        var request = request
        request.headers["Cookie"] = pairs.joined(separator: "; ")
        return request
    }
}

extension HTTPRequest {
    /// The path of the URL.
    fileprivate var path: String {
        let path = URLComponents(string: url)?.percentEncodedPath ?? ""
        return path.isEmpty ? "/" : path
    }
}
