package import Backplane
import BackplaneDocuments
public import BackplaneNetwork
import FoundationEssentials
import Glibc

/// The mocks that answer requests instead of servers: files, each with the response of an endpoint.
///
/// ```swift
/// let network = HTTPPipeline([AsyncHTTPClientExecutor()], mocks: Mocks(folders: ["mocks"]))
/// ```
///
/// The file of an endpoint is its name followed by `.mock`. An endpoint without a name, and a request without an
/// endpoint, are named by their method and path: `GET books/1`. In a file's name, `-` replaces every run of characters
/// other than letters, digits, spaces, `.` and `_`: `GET books-1.mock`. The query may follow the path
/// (`GET search-q-whale.mock`), and `_` may replace segments of the path (`GET books-_.mock`); the file with the most
/// specific name answers.
///
/// A file contains JSON, which is the body of a response with the status 200, or a head and a body:
///
/// ```
/// HTTP 404
/// Delay: 0.5
/// Content-Type: text/plain
///
/// There is no such book.
/// ```
///
/// Without `Content-Type`, a body is JSON. `Delay` is in seconds, and is not a field of the response. Files are read
/// for each answer.
public struct Mocks: Sendable {
    /// The folders that are searched, in order; the first with a mock of the request answers.
    public var folders: [String]
    /// A Boolean value that indicates whether requests without a mock are sent; otherwise, they fail.
    public var fallsThrough: Bool
    /// A Boolean value that indicates whether mocks answer all requests, except those with a `usesMock` of `false`.
    ///
    /// Otherwise, mocks answer only requests with a `usesMock` of `true`.
    ///
    /// Requests for `file:` URLs have no mocks.
    public var isForAll = true

    /// Creates the mocks in folders, which answer all requests.
    public init(folders: [String], fallsThrough: Bool = false) {
        (self.folders, self.fallsThrough) = (folders, fallsThrough)
    }

    package static var none: Mocks {
        var mocks = Mocks(folders: [])
        mocks.isForAll = false
        return mocks
    }

    /// Returns whether a request is not sent, because a mock answers it or is missing.
    func apply(to request: HTTPRequest, _ options: HTTPOptions) -> Bool {
        areMeant(for: request, options) && (!fallsThrough || path(for: request, options) != nil)
    }

    private func areMeant(for request: HTTPRequest, _ options: HTTPOptions) -> Bool {
        request.scheme != "file" && options.usesMock ?? isForAll
    }

    private func searched(_ options: HTTPOptions) -> [String] { folders + (options.mockFolder.map { [$0] } ?? []) }

    private func path(for request: HTTPRequest, _ options: HTTPOptions) -> String? {
        let names = MockName.files(of: request, options)
        for folder in searched(options) {
            for name in names where access("\(folder)/\(name)", F_OK) == 0 { return "\(folder)/\(name)" }
        }
        return nil
    }

    /// Returns the executor that answers a request; `nil` if the request is to be sent.
    ///
    /// - Parameter clock: The clock of delays; `nil` means no delays.
    /// - Throws: `network.mock` if there is no mock.
    package func executor(
        for request: HTTPRequest, _ options: HTTPOptions, _ clock: (any DeadlineClock)?
    ) throws(BackplaneError) -> (any HTTPExecutor)? {
        guard areMeant(for: request, options) else { return nil }
        if let path = path(for: request, options) {
            return MemoryExecutor(schemes: [], capabilities: HTTPCapabilities(rawValue: .max)) { request, _ in
                let mock = try MockFile(path)
                for try await _ in try request.body.open() {}  // as a server reads it
                try await clock?.pause(for: mock.delay)
                try Task.checkCancellation()
                return mock.response(to: request)
            }
        }
        if fallsThrough { return nil }
        throw Self.missing(request, options, in: searched(options))
    }

    private static func missing(
        _ request: HTTPRequest, _ options: HTTPOptions, in folders: [String]
    ) -> BackplaneError {
        let title = MockName.title(of: request, options), name = MockName.file(title)
        guard !folders.isEmpty else {
            return BackplaneError(
                .networkMock, "there is no mock of `\(title)`, because no folder with mocks was given",
                at: request.printableURL)
        }
        let present = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
        let question = NameSuggestions(for: name, among: present.filter { $0.hasSuffix(".mock") }).question
        let places = folders.map { "`\($0)`" }.joined(separator: " or ")
        return BackplaneError(
            .networkMock,
            "there is no mock of `\(title)`; expected the file `\(name)` in \(places)"
                + (question.map { "; \($0)" } ?? ""), at: request.printableURL)
    }
}

/// The names of the files in which the mock of a request may be.
enum MockName {
    /// The number of segments up to which `_` may replace each of them.
    private static let mostSegments = 8

    /// Returns the name of a request's endpoint, or else its method and path.
    static func title(of request: HTTPRequest, _ options: HTTPOptions) -> String {
        options.endpoint ?? "\(request.method) \(WebURL(request.url)?.path ?? "")"
    }

    static func file(_ title: String) -> String { fit(title) + ".mock" }

    /// Returns the names of the files, the most specific one first: with the query, exact, and with more and more
    /// segments replaced.
    static func files(of request: HTTPRequest, _ options: HTTPOptions) -> [String] {
        let title = title(of: request, options), start = request.method + " "
        var names = [file(title)]
        if let query = WebURL(request.url)?.query, !query.isEmpty { names.insert(file("\(title)?\(query)"), at: 0) }
        guard title.hasPrefix(start) else { return names }
        let segments = title.dropFirst(start.count).split(separator: "/").map(String.init)
        guard (1...mostSegments).contains(segments.count) else { return names }
        // The last segments first, which are parameters more often than the first ones.
        let choices = (1..<1 << segments.count).sorted { ($0.nonzeroBitCount, $1) < ($1.nonzeroBitCount, $0) }
        for replaced in choices {
            let parts = segments.enumerated().map { replaced >> $0.offset & 1 == 1 ? "_" : $0.element }
            names.append(file(start + parts.joined(separator: "/")))
        }
        return names
    }

    /// Returns a title as the name of a file: `-` for every run of other characters than letters, digits, spaces, `.`
    /// and `_`, and none at either end of a word.
    static func fit(_ title: String) -> String {
        title.split(separator: " ").map { word in
            word.split { !($0.isLetter || $0.isNumber || $0 == "." || $0 == "_") }.joined(separator: "-")
        }.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension Endpoint {
    /// Answers the endpoint with a response instead of its server; the client's interceptors still run.
    ///
    /// ```swift
    /// search.mock(HTTPResponse(status: 200, body: Array("[]".utf8)))
    /// ```
    public mutating func mock(_ response: HTTPResponse) {
        var response = response
        response.source = .mock
        interceptors.append(HTTPInterceptor { [response] _, _ in HTTPStreamedResponse(response) })
    }
}
