import Backplane
import BackplaneNetwork

/// The rules for the request that follows a redirect (RFC 9110, section 15.4; WHATWG, Fetch, section 4.4).
struct Redirection {
    let limit: Int
    private var count = 0

    init(limit: Int) { self.limit = limit }

    /// Returns a response with its URL, if that is not the first one.
    func located(_ response: HTTPStreamedResponse, _ request: HTTPRequest) -> HTTPStreamedResponse {
        guard count > 0 else { return response }
        var response = response
        response.url = request.url
        return response
    }

    /// Returns the request to which a response redirects, or `nil` if the response is the result.
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
            next.headers = next.headers.filter { !$0.hasPrefix("content-") }
        } else if !request.body.isReplayable {
            throw Self.refused(
                "the redirect with \(status) requires the request's body to be sent again, but it can be sent only "
                    + "once",
                request)
        }
        if HTTPOrigin(request.url) != HTTPOrigin(url) { next.headers = next.headers.forAnyone }
        return next
    }

    private static func changesMethod(_ status: Int, _ method: String) -> Bool {
        switch status {
        case 303: method != "GET" && method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }

    /// Returns the URL to which a `Location` refers, without any credentials.
    private static func target(_ location: String, of request: HTTPRequest) throws(BackplaneError) -> String {
        guard let base = WebURL(request.url), var url = base.resolving(location) else {
            throw refused("the redirect's `Location` is not a URL, or not in UTF-8", request)
        }
        guard let origin = HTTPOrigin(url), let from = HTTPOrigin(base) else {
            throw refused(
                "the redirect points to a URL with the scheme `\(url.scheme)`; only redirects between "
                    + "`http:` and `https:` URLs are followed",
                request)
        }
        guard from.scheme == "http" || origin.scheme == "https" else {
            throw refused("the redirect goes from https to http, which would expose the request", request)
        }
        url.userInfo = from == origin ? base.userInfo : nil
        return url.text
    }

    private static func refused(_ why: String, _ request: HTTPRequest) -> BackplaneError {
        BackplaneError(.networkRedirect, why, at: request.printableURL)
    }
}

extension String {
    fileprivate var printable: String { HTTPRequest("GET", self).printableURL }
}
