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
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the first page.
    ///   - call: The call being served, whose deadline applies to all pages.
    ///   - rule: The rule for finding the next page, by default the response's `Link`.
    ///   - limit: The maximum number of pages; more of them are an error.
    public func pages<Response>(
        _ endpoint: Endpoint<Response>, _ call: Call, next rule: NextPage<Response> = .link, limit: Int = 1_000
    ) -> Pages<Response> {
        Pages(http: self, first: endpoint, call: call, rule: rule, limit: limit)
    }
}

/// The position of one reader of pages.
private final class PageLoading<Response: Sendable>: Sendable {
    /// A loaded page, and the endpoint of the next one.
    typealias Page = (value: Response, next: Endpoint<Response>?)
    typealias Loading = Task<Result<Page, BackplaneError>, Never>

    private struct State {
        /// The page that is being loaded, or the resulting error; `nil` before the first page and after the last.
        var coming: Result<Loading, BackplaneError>?
        /// The number of pages whose load has started.
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

    /// Starts to load a page, unless it has already been requested.
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
    /// It is relative to the URL of the response, which differs from that of the request after a redirect. A link to
    /// the origin of another server is an error, because the request's header fields may contain credentials; to the
    /// origin of a redirect, only fields without them are sent.
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

/// The links of `Link` fields (RFC 8288).
enum LinkHeader {
    /// Returns the target of the first link with a relation, as written; `nil` if there is none.
    ///
    /// - Parameter values: The values of the fields. A malformed link ends the reading of its value.
    static func target(_ relation: String, in values: [String]) -> String? {
        for value in values {
            var reader = LinkReader(value)
            while let link = reader.next() {
                if link.relations.contains(relation), !link.hasAnchor { return link.target }
            }
        }
        return nil
    }
}

/// A reader of one `Link` value, which reads each byte once.
private struct LinkReader {
    struct Link {
        var target: String
        /// The relations in lower case.
        var relations: [String] = []
        /// A Boolean value that indicates whether the link belongs to another document.
        var hasAnchor = false
    }
    private var rest: Substring.UTF8View

    init(_ value: String) { rest = value[...].utf8 }

    mutating func next() -> Link? {
        skip { $0 == UInt8(ascii: ",") || $0.isBlank }
        guard take("<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var link = Link(target: String(Substring(rest[..<end])))
        rest = rest[rest.index(after: end)...]
        while true {
            skip(\.isBlank)
            guard take(";") else { return link }
            skip(\.isBlank)
            let name = token().lowercased()
            skip(\.isBlank)
            guard take("=") else { continue }
            skip(\.isBlank)
            guard let value = take("\"") ? quoted() : token() else { return nil }
            switch name {
            case "rel" where link.relations.isEmpty:
                link.relations = value.split(separator: " ").map { $0.lowercased() }
            case "anchor": link.hasAnchor = true
            default: break
            }
        }
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func token() -> String {
        let token = rest.prefix { !$0.isBlank && !";,=\"<>".utf8.contains($0) }
        rest = rest[token.endIndex...]
        return String(Substring(token))
    }

    /// Reads up to the closing quote; returns `nil` if there is none.
    private mutating func quoted() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): if let next = rest.popFirst() { bytes.append(next) }
            default: bytes.append(byte)
            }
        }
        return nil
    }
}
