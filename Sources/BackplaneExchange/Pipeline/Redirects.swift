import Backplane
import BackplaneNetwork
import FoundationEssentials

/// The rules for the request that follows a redirect (RFC 9110, section 15.4; WHATWG, Fetch, section 4.4).
struct Redirection {
    /// The maximum number of redirects.
    let limit: Int
    private var count = 0

    init(limit: Int) { self.limit = limit }

    /// Returns the request to which a response redirects, or `nil` if the response is the result.
    ///
    /// - Throws: `network.redirect` if the redirect cannot or may not be followed.
    mutating func next(
        after status: Int, _ headers: HTTPHeaders, of request: HTTPRequest
    ) throws(BackplaneError) -> HTTPRequest? {
        guard [301, 302, 303, 307, 308].contains(status), let location = headers["Location"] else { return nil }
        let url = try Self.target(location, of: request)
        guard count < limit else {
            throw Self.refused(
                "there were more than \(limit) redirects; the last one points to \(url.printable)", request)
        }
        count += 1
        var next = request
        next.url = url
        if Self.changesMethod(status, request.method) {
            (next.method, next.body) = ("GET", .none)
            next.headers.keep { !$0.hasPrefix("content-") }
        } else if !request.body.isReplayable {
            throw Self.refused(
                "the redirect with \(status) requires the request's body to be sent again, but it can be sent only "
                    + "once",
                request)
        }
        // Any field may be a credential: only those that are known not to be go to another origin.
        if HTTPOrigin(request.url) != HTTPOrigin(url) {
            next.headers.keep { Self.fieldsForAnyone.contains($0) || $0.hasPrefix("content-") }
        }
        return next
    }

    /// The names of fields that carry no credentials.
    private static let fieldsForAnyone: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "expect", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "pragma", "range", "user-agent",
    ]

    private static func changesMethod(_ status: Int, _ method: String) -> Bool {
        switch status {
        case 303: method != "GET" && method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }

    /// Returns the URL to which a `Location` refers, without any credentials.
    private static func target(_ location: String, of request: HTTPRequest) throws(BackplaneError) -> String {
        guard let base = URL(string: request.url), let url = URL(string: location, relativeTo: base)?.absoluteURL,
            var address = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { throw refused("the redirect's `Location` is not a URL", request) }
        address.fragment = nil
        let own = URLComponents(string: request.url)
        (address.user, address.password) = (nil, nil)
        guard let text = address.string, let origin = HTTPOrigin(text), let from = HTTPOrigin(request.url) else {
            throw refused(
                "the redirect points to a URL with the scheme `\(address.scheme ?? "")`; only redirects between "
                    + "`http:` and `https:` URLs are followed",
                request)
        }
        guard from.scheme == "http" || origin.scheme == "https" else {
            throw refused("the redirect goes from https to http, which would expose the request", request)
        }
        guard from == origin, own?.user != nil else { return text }
        (address.user, address.password) = (own?.user, own?.password)
        return address.string ?? text
    }

    private static func refused(_ why: String, _ request: HTTPRequest) -> BackplaneError {
        BackplaneError(.networkRedirect, why, at: request.printableURL)
    }
}

extension HTTPHeaders {
    /// Removes the fields whose names, in lower case, do not meet a condition.
    fileprivate mutating func keep(_ isKept: (String) -> Bool) {
        var kept: HTTPHeaders = [:]
        for field in fields where isKept(field.name.lowercased()) { kept.add(field.name, field.value) }
        self = kept
    }
}

extension String {
    fileprivate var printable: String { HTTPRequest("GET", self).printableURL }
}
