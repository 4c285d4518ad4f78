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
        /// The requests of the pages so far, used to detect a repeated one.
        var asked: Set<[UInt8]> = []
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
            guard request.identity.map({ state.asked.insert($0).inserted }) ?? true else {
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
    /// The bytes that distinguish the request from others; `nil` if its body is not in memory or is too large to be
    /// kept.
    fileprivate var identity: [UInt8]? {
        guard let body = body.bytes, body.count <= 64 << 10 else { return nil }
        let head = ["\(method) \(url)"] + headers.fields.map { "\($0.name): \($0.value)" }
        return Array(head.joined(separator: "\n").utf8) + [0] + body
    }
}
