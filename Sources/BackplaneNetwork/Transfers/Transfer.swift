public import Backplane
import FoundationEssentials
import Synchronization

/// A download or an upload for a pool, identified by an id.
///
/// ```swift
/// let text = Transfer("books/whale.epub", download: "https://books.example.org/whale.epub", to: "/data/whale.epub")
/// let cover = Transfer("covers/whale.png", upload: HTTPRequest("PUT", url, body: .file("/data/whale.png")))
/// ```
public struct Transfer: Sendable {
    /// The id: any string from 1 byte to 1 MB, which is not used as a file name.
    public var id: String
    /// The request: a `GET` for a download; for an upload, a request with a body in memory, in files, or in both.
    public var request: HTTPRequest
    /// The path of the file to which a download is moved once it is complete; `nil` for an upload.
    public var target: String?
    /// The policy for a file that already exists at the target.
    public var existing = ExistingFile.replace
    /// The expected SHA-256 of the downloaded file, 32 bytes; `nil` means that it is not checked.
    public var sha256: [UInt8]?
    /// The maximum number of bytes of a download; `nil` means no limit.
    public var sizeLimit: Int64?
    /// The owner; the capacity of a pool is shared equally among owners.
    ///
    /// A component's transfers belong to its plugin, regardless of this value.
    public var owner = ""
    /// The priority; transfers with a higher one start first.
    public var priority = 0
    /// The name of the credential in the host's manifest; `nil` for none.
    ///
    /// A transfer whose account is not signed in is paused with `transfer.credentials`.
    public var credential: String?
    /// The account of the credential; `nil` for the account that needs no sign-in.
    public var account: String?
    /// The component that started the transfer, for observers of exchanges, and the managers to which it belongs.
    package var sender: String?
    package var managers: [String] = []

    /// Creates a download of a URL.
    public init(_ id: String, download url: String, to path: String) {
        self.init(id, download: HTTPRequest("GET", url), to: path)
    }

    /// Creates a download with a request.
    public init(_ id: String, download request: HTTPRequest, to path: String) {
        (self.id, self.request, target) = (id, request, path)
    }

    /// Creates an upload, which sends a request with its body.
    public init(_ id: String, upload request: HTTPRequest) { (self.id, self.request) = (id, request) }

    /// Creates a download of an endpoint to its file.
    ///
    /// ```swift
    /// let endpoint = Endpoint<DownloadedFile>("GET", "files/whale", to: "whale.epub")
    /// let text = try await Transfer("text/whale", download: endpoint, on: http)
    /// ```
    ///
    /// The request has the base URL and the header fields of the client. The interceptors of the client and the
    /// endpoint run once, now, and may change the request; they receive an empty response. The credential is the only
    /// option that applies.
    ///
    /// - Throws: `network.invalid-request`; the errors of the interceptors; `transfer.refused` if one of them does not
    ///   pass the request on.
    public init(
        _ id: String, download endpoint: Endpoint<DownloadedFile>, on http: HTTPClient
    ) async throws(BackplaneError) {
        self.init(id, try await endpoint.intercepted(on: http), endpoint.options, http.defaults)
        if case .file(let path, _) = endpoint.receipt { target = path }
    }

    /// Creates an upload to an endpoint, like a download; its response is in the state.
    public init<Response>(
        _ id: String, upload endpoint: Endpoint<Response>, on http: HTTPClient
    ) async throws(BackplaneError) {
        self.init(id, try await endpoint.intercepted(on: http), endpoint.options, http.defaults)
    }

    private init(_ id: String, _ request: HTTPRequest, _ options: HTTPOptions, _ defaults: EndpointDefaults) {
        self.init(id, upload: request)
        let options = defaults.completed(options, for: request)
        (credential, account) = (options.credential, options.account)
    }
}

extension Endpoint {
    fileprivate func intercepted(on http: HTTPClient) async throws(BackplaneError) -> HTTPRequest {
        let request = try request(http.defaults), passed = Mutex<HTTPRequest?>(nil)
        let all = http.defaults.interceptors + interceptors
        guard all.aroundAttempts.isEmpty else {
            throw BackplaneError(
                .transferRefused,
                "a transfer is kept across restarts, and cannot have an interceptor around its attempts; "
                    + "give the interceptor to the pipeline",
                at: request.printableURL)
        }
        let exchange = all.around { request in
            passed.withLock { $0 = request }
            return HTTPStreamedResponse(HTTPResponse(status: 200))
        }
        do {
            _ = try await exchange(request)
        } catch  where passed.withLock({ $0 == nil }) {
            throw BackplaneError(thrown: error)
        } catch {}  // of the response, which is not that of the server
        guard let passed = passed.withLock(\.self) else {
            throw BackplaneError(
                .transferRefused, "an interceptor answers this request instead of passing it on",
                at: request.printableURL)
        }
        return passed
    }
}

extension Transfer {
    package var pieces: [BodySegment] {
        get throws(BackplaneError) {
            if let pieces = request.body.segments { return pieces }
            throw BackplaneError(
                .transferRefused,
                "the body is a stream, which cannot be read again after a restart; upload bytes, a file or a form",
                at: request.printableURL)
        }
    }
}

// The one coding of transfers: at the boundary, and in the store of a pool.
extension Transfer: Codable {
    private enum CodingKeys: CodingKey {
        case id, method, url, headers, body, type, download, existing, sha256, sizeLimit, owner, priority, credential
        case account, sender, managers
    }

    private struct Piece: Codable {
        var bytes: Data?
        var file: String?
    }

    /// Decodes a transfer from an object; only the id and the URL are required.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        var request = HTTPRequest(
            try values.decodeIfPresent(String.self, forKey: .method) ?? "GET",
            try values.decode(String.self, forKey: .url),
            headers: try values.decodeIfPresent(HTTPHeaders.self, forKey: .headers) ?? [:])
        let segments = try values.decodeIfPresent([Piece].self, forKey: .body)?.map { piece in
            switch (piece.bytes, piece.file) {
            case (let bytes?, nil): BodySegment.bytes(Array(bytes))
            case (nil, let path?): BodySegment.file(path)
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .body, in: values, debugDescription: "expected `bytes` or `file` in each piece of the body")
            }
        }
        request.body = HTTPBody(segments: segments ?? [], type: try values.decodeIfPresent(String.self, forKey: .type))
        self.init(try values.decode(String.self, forKey: .id), upload: request)
        target = try values.decodeIfPresent(String.self, forKey: .download)
        existing = try values.decodeIfPresent(ExistingFile.self, forKey: .existing) ?? .replace
        sha256 = try values.decodeIfPresent(Data.self, forKey: .sha256).map { Array($0) }
        sizeLimit = try values.decodeIfPresent(Int64.self, forKey: .sizeLimit)
        owner = try values.decodeIfPresent(String.self, forKey: .owner) ?? ""
        priority = try values.decodeIfPresent(Int.self, forKey: .priority) ?? 0
        credential = try values.decodeIfPresent(String.self, forKey: .credential)
        account = try values.decodeIfPresent(String.self, forKey: .account)
        sender = try values.decodeIfPresent(String.self, forKey: .sender)
        managers = try values.decodeIfPresent([String].self, forKey: .managers) ?? []
    }

    /// Encodes the transfer as an object, with all fields of its header and bytes in Base64.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try values.encode(request.method, forKey: .method)
        try values.encode(request.url, forKey: .url)
        try values.encode(request.headers, forKey: .headers)
        let pieces = try pieces.map { segment in
            switch segment {
            case .bytes(let bytes): Piece(bytes: Data(bytes))
            case .file(let path): Piece(file: path)
            }
        }
        try values.encode(pieces, forKey: .body)
        try values.encodeIfPresent(request.body.mediaType, forKey: .type)
        try values.encodeIfPresent(target, forKey: .download)
        try values.encode(existing, forKey: .existing)
        try values.encodeIfPresent(sha256.map { Data($0) }, forKey: .sha256)
        try values.encodeIfPresent(sizeLimit, forKey: .sizeLimit)
        try values.encode(owner, forKey: .owner)
        try values.encode(priority, forKey: .priority)
        try values.encodeIfPresent(credential, forKey: .credential)
        try values.encodeIfPresent(account, forKey: .account)
        try values.encodeIfPresent(sender, forKey: .sender)
        try values.encode(managers, forKey: .managers)
    }
}

/// The policy for a file that already exists at the target of a download.
public enum ExistingFile: String, Codable, CaseIterable, Sendable {
    /// The download replaces it.
    case replace
    /// The file is kept and nothing is fetched; if it appears during the download, the download is abandoned.
    case keep
    /// The file is kept, and the download is stored under the first free name of `whale-2.epub`, `whale-3.epub` and so
    /// on.
    case number
}

extension BackplaneError.Code {
    /// The pool has no transfer with this id.
    public static let transferUnknown = Self(rawValue: "transfer.unknown")
    /// Another transfer has the same id, or downloads to the same file.
    public static let transferTaken = Self(rawValue: "transfer.taken")
    /// A transfer cannot be started as requested, or cannot be continued in its current state.
    public static let transferRefused = Self(rawValue: "transfer.refused")
    /// The digest of a downloaded file does not match the expected one.
    public static let transferDigest = Self(rawValue: "transfer.digest")
    /// A transfer waits for header fields with credentials, which are never stored.
    public static let transferCredentials = Self(rawValue: "transfer.credentials")
}
