import Backplane
import FoundationEssentials

/// The rule for finding the next page of a resource.
public struct NextPage<Response: Sendable>: Sendable {
    /// A function that returns the endpoint of the next page, or `nil` after the last page.
    let find: @Sendable (Response, HTTPResponse, Endpoint<Response>, HTTPRequest) throws -> Endpoint<Response>?

    /// Creates a rule from a function.
    ///
    /// - Parameter find: A function that returns the endpoint of the next page, given the value, the response without
    ///   its body, and the endpoint of a page; or `nil` after the last page.
    public init(_ find: @escaping @Sendable (Response, HTTPResponse, Endpoint<Response>) throws -> Endpoint<Response>?)
    {
        self.find = { value, response, endpoint, _ in try find(value, response, endpoint) }
    }

    private init(
        requests find:
            @escaping @Sendable (Response, HTTPResponse, Endpoint<Response>, HTTPRequest) throws ->
            Endpoint<Response>?
    ) { self.find = find }

    /// The URL with the relation `next` in the response's `Link` fields (RFC 8288), which may be relative.
    ///
    /// A link to another origin is an error, because the request's header fields may contain credentials.
    public static var link: NextPage {
        NextPage(requests: { _, response, endpoint, request in
            guard let target = LinkHeader.target("next", in: response.headers.values("Link")) else { return nil }
            guard let base = URL(string: request.url), let url = URL(string: target, relativeTo: base)?.absoluteURL,
                let origin = HTTPOrigin(url.absoluteString), origin == HTTPOrigin(request.url)
            else {
                throw BackplaneError(
                    .networkPages, "the link to the next page is not a URL of the same origin, so it is not followed",
                    at: request.printableURL)
            }
            var next = endpoint
            (next.path, next.query, next.allowsFullURL) = (url.absoluteString, [], true)
            return next
        })
    }

    /// Returns the rule for a cursor in the value, which is sent in the query of the request for the next page.
    ///
    /// - Parameters:
    ///   - name: The name of the query's field.
    ///   - cursor: A function that returns the cursor of the next page, or `nil` after the last page.
    public static func cursor(
        _ name: String, _ cursor: @escaping @Sendable (Response) -> String?
    ) -> NextPage {
        NextPage { value, _, endpoint in
            guard let cursor = cursor(value) else { return nil }
            var next = endpoint
            next.query.removeAll { $0.name == name }
            next.query.append((name, cursor))
            return next
        }
    }
}
