public import Backplane
import Synchronization

/// The pages of a resource, loaded one after another; each page is loaded while the previous one is used.
///
/// Leaving the loop cancels the load of the next page.
public struct Pages<Response: Sendable>: AsyncSequence, Sendable {
    let http: HTTPClient
    let first: Endpoint<Response>
    let call: Call
    let rule: NextPage<Response>
    let limit: Int

    /// Starts to load the pages, beginning with the first one.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// An iterator of pages, for one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let state: PageLoading<Response>

        init(_ pages: Pages) { state = PageLoading(pages) }

        /// Returns the next page, or `nil` after the last one; the following page begins to load.
        ///
        /// - Throws: The errors of `load`; `network.pages` for a repeated page or a page beyond the limit.
        public mutating func next() async throws(BackplaneError) -> Response? { try await state.next() }
    }
}

extension HTTPClient {
    /// Returns the pages of a resource as a sequence, which loads them as it is read.
    ///
    /// ```swift
    /// for try await books in http.pages(Endpoint<[Book]>("GET", "books"), call) { show(books) }
    /// ```
    public func pages<Response>(
        _ endpoint: Endpoint<Response>, _ call: Call, next rule: NextPage<Response> = .link, limit: Int = 1_000
    ) -> Pages<Response> {
        Pages(http: self, first: endpoint, call: call, rule: rule, limit: limit)
    }
}

/// The position of one reader of pages.
private final class PageLoading<Response: Sendable>: Sendable {
    typealias Page = (value: Response, next: Endpoint<Response>?)
    typealias Loading = Task<Result<Page, BackplaneError>, Never>

    private struct State {
        /// The page that is being loaded, or an error; `nil` before the first page and after the last.
        var coming: Result<Loading, BackplaneError>?
        var count = 0
        /// The digests of the requests of the pages so far, used to detect a repeated one.
        var asked: Set<[Int]> = []
    }
    private let pages: Pages<Response>
    private let state = Mutex(State())

    init(_ pages: Pages<Response>) { self.pages = pages }

    deinit { cancel() }

    private func cancel() { try? state.withLock { $0.coming }?.get().cancel() }

    func next() async throws(BackplaneError) -> Response? {
        let coming = state.withLock { state in
            if state.count == 0 { begin(pages.first, &state) }
            return state.coming
        }
        guard let loading = try coming?.get() else { return nil }
        let page: Result<Page, BackplaneError> = await withTaskCancellationHandler {
            await loading.value
        } onCancel: {
            loading.cancel()
        }
        state.withLock { state in
            state.coming = nil
            if case .success(let page) = page, let next = page.next { begin(next, &state) }
        }
        return try page.get().value
    }

    private func begin(_ endpoint: Endpoint<Response>, _ state: inout State) {
        do throws(BackplaneError) {
            state.count += 1
            let request = try endpoint.request(pages.http.defaults)
            guard request.digest.map({ state.asked.insert($0).inserted }) ?? true else {
                throw BackplaneError(
                    .networkPages, "the link to the next page points to a page that was already loaded",
                    at: request.printableURL)
            }
            guard state.count <= pages.limit else {
                throw BackplaneError(
                    .networkPages, "there are more than \(pages.limit) pages, which is the limit",
                    at: request.printableURL)
            }
            let run = EndpointRun(endpoint, on: pages.http, pages.call, nil), rule = pages.rule
            state.coming = .success(
                Task {
                    do {
                        let (value, response) = try await run.run()
                        return .success((value, try rule.find(value, response, endpoint, request)))
                    } catch {
                        return .failure(BackplaneError(thrown: error))
                    }
                })
        } catch {
            state.coming = .failure(error)
        }
    }
}

extension HTTPRequest {
    /// Two hashes that distinguish the request from others; `nil` if its body is not in memory.
    fileprivate var digest: [Int]? {
        guard let body = body.bytes else { return nil }
        return (0...1).map { number in
            var hasher = Hasher()
            hasher.combine(number)
            hasher.combine(["\(method) \(url)"] + headers.fields.map { "\($0.name): \($0.value)" })
            hasher.combine(body)
            return hasher.finalize()
        }
    }
}

/// The rule for finding the next page of a resource.
public struct NextPage<Response: Sendable>: Sendable {
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
    /// A relative URL is resolved against the URL of the response, which differs from the request's URL after a
    /// redirect. A link to another server's origin is an error, because the request's header fields may contain
    /// credentials. To the origin of a redirect, only fields without credentials are sent.
    public static var link: NextPage {
        NextPage(requests: { _, response, endpoint, request in
            guard let target = LinkHeader.target("next", in: response.headers.values("Link")) else { return nil }
            let base = response.url ?? request.url
            guard let url = WebURL(base)?.resolving(target), let origin = HTTPOrigin(url),
                [HTTPOrigin(base), HTTPOrigin(request.url)].contains(origin)
            else {
                throw BackplaneError(
                    .networkPages, "the link to the next page is not a URL of the same origin, so it is not followed",
                    at: request.printableURL)
            }
            var next = endpoint
            (next.path, next.query, next.allowsFullURL) = (url.text, [], true)
            if origin != HTTPOrigin(request.url) {
                next.headers = next.headers.forAnyone
                (next.options.credential, next.options.account, next.options.hasNoCredential) = (nil, nil, true)
            }
            return next
        })
    }

    /// Returns the rule for a cursor in the value, which is sent in the query of the request for the next page.
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

/// The links of `Link` fields (RFC 8288).
enum LinkHeader {
    /// Returns the target of the first link with a relation, as written; `nil` if there is none.
    static func target(_ relation: String, in values: [String]) -> String? {
        for value in values {
            var text = FieldReader(value)
            while let link = next(&text) {
                if link.relations.contains(relation), !link.isOfOther { return link.target }
            }
        }
        return nil
    }

    /// Reads a link with its relations in lower case; a link with an anchor belongs to another document.
    private static func next(_ text: inout FieldReader) -> (target: String, relations: [String], isOfOther: Bool)? {
        text.take { $0 == UInt8(ascii: ",") || $0.isBlank }
        guard text.take("<") else { return nil }
        let target = text.take { $0 != UInt8(ascii: ">") }
        guard text.take(">") else { return nil }
        var relations: [String] = [], isOfOther = false
        func isOfToken(_ byte: UInt8) -> Bool { !byte.isBlank && !";,=\"<>".utf8.contains(byte) }
        while true {
            text.skipBlanks()
            guard text.take(";") else { return (target, relations, isOfOther) }
            text.skipBlanks()
            let name = text.take(while: isOfToken).lowercased()
            text.skipBlanks()
            guard text.take("=") else { continue }
            text.skipBlanks()
            guard let value = text.take("\"") ? text.takeQuoted() : text.take(while: isOfToken) else { return nil }
            switch name {
            case "rel" where relations.isEmpty: relations = value.split(separator: " ").map { $0.lowercased() }
            case "anchor": isOfOther = true
            default: break
            }
        }
    }
}
