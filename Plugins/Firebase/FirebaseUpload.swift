import Backplane
import BackplaneNetwork
import FoundationEssentials
import Synchronization

extension FirebaseCommunication {
    /// Uploads the content of an order in pieces, and resumes an interrupted upload of the same content.
    ///
    /// The protocol is Google's resumable upload, which the libraries of Firebase also use
    /// (developers.google.com/photos/library/guides/resumable-uploads). The command `start` returns the URL of a
    /// session, `upload` adds a piece to the session, `upload, finalize` adds the last piece, and `query` returns the
    /// number of bytes that have arrived.
    func upload(
        _ order: HTTPOrder, _ object: (bucket: String, name: String), at address: FirebaseAddress,
        _ parts: StreamSender<HTTPResponsePart>, _ call: Call
    ) async throws -> HTTPStreamedResponse {
        let content = UploadContent(order.content), length = try content.length()
        let key = try "\(object.bucket)/\(object.name) \(order.sender) \(order.fingerprint(length))"
        let upload = ResumableUpload(http: http, order: order, length: length, call: call)
        var session = sessions[key], offset: Int64?, begun = 0, failures = 0
        while true {
            guard let place = session else {
                begun += 1
                guard begun <= ResumableUpload.mostSessions else {
                    throw BackplaneError(.networkFailed, "the service has lost the upload \(begun - 1) times")
                }
                let answer = try await upload.start(object.name, at: address.uploads)
                guard answer.status == 200, let url = answer.headers["X-Goog-Upload-URL"] else {
                    guard answer.status == 200, !answer.isOfProxy else { return HTTPStreamedResponse(answer) }
                    throw BackplaneError(.networkMalformed, "the service began an upload without `X-Goog-Upload-URL`")
                }
                (session, offset) = (UploadSession(url, answer.headers), 0)
                sessions[key] = session
                continue
            }
            do {
                guard let start = offset else {
                    let answer = try await upload.query(place)
                    switch answer.status {
                    case 200 where answer.headers["X-Goog-Upload-Status"] == "final":
                        sessions[key] = nil
                        // The response to the last piece was lost: the object's metadata is the same.
                        let url = "\(address.uploads)/\(object.name.percentEncoded)"
                        return try await http.open(HTTPRequest("GET", url), call, order.options())
                    case 200 where answer.headers["X-Goog-Upload-Size-Received"] != nil:
                        let received = answer.headers["X-Goog-Upload-Size-Received"].flatMap { Int64($0) } ?? 0
                        offset = min(max(0, received), length)
                    case 500...: throw BackplaneError.unavailable(answer.status)
                    default: (session, sessions[key]) = (nil, nil)
                    }
                    continue
                }
                try await parts.send(.sent(start))
                let piece = try await content.piece(at: start, place.pieceSize)
                guard piece.count == min(Int64(place.pieceSize), length - start) else {
                    throw BackplaneError(.networkBody, "the content of the upload was changed while it was sent")
                }
                let end = start + Int64(piece.count)
                let answer = try await upload.send(piece, at: start, isLast: end == length, to: place)
                switch answer.status {
                case 200 where end < length && !answer.isOfProxy: (offset, failures) = (end, 0)
                case 404, 410: (session, sessions[key]) = (nil, nil)
                case 500...: throw BackplaneError.unavailable(answer.status)
                case 400 where failures + 1 < ResumableUpload.mostFailures:
                    // An earlier request, given up here, may have added its piece after all.
                    (offset, failures) = (nil, failures + 1)
                default:
                    sessions[key] = nil
                    return HTTPStreamedResponse(answer)
                }
            } catch let error as BackplaneError where error.isConnectivity {
                failures += 1
                // The sender may repeat the order later, which continues the session.
                guard failures < ResumableUpload.mostFailures else { throw error }
                offset = nil
            }
        }
    }
}

extension BackplaneError {
    fileprivate static func unavailable(_ status: Int) -> BackplaneError {
        BackplaneError(.networkFailed, "the service answered with the status \(status) to a piece of an upload")
    }
}

extension HTTPResponse {
    /// A Boolean value that indicates whether a response is a page without the fields of uploads.
    ///
    /// An empty response of the service itself may also have the media type of a page.
    fileprivate var isOfProxy: Bool { headers.isWebPage && headers["X-Goog-Upload-Status"] == nil }
}

extension HTTPOrder {
    /// The account that uploads.
    fileprivate var sender: String { "\(credential ?? "")/\(account ?? "")" }

    /// Returns a text that identifies the content: a hash of a body, or the path, size and date of a file.
    fileprivate func fingerprint(_ length: Int64) throws -> String {
        guard let file else { return "\(length) \(body.hashValue)" }
        let date = try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        return "\(length) \(file) \(date?.timeIntervalSinceReferenceDate ?? 0)"
    }
}

/// The session of a resumable upload.
struct UploadSession {
    var url: String
    /// The size of all pieces but the last: about 1 MB, and a multiple of the service's granularity.
    var pieceSize: Int

    init(_ url: String, _ fields: HTTPHeaders) {
        let granularity = fields["X-Goog-Upload-Chunk-Granularity"].flatMap { Int($0) } ?? 256 << 10
        self.url = url
        pieceSize = granularity > 0 && granularity < 16 << 20 ? max(1, (1 << 20) / granularity) * granularity : 1 << 20
    }
}

/// The unfinished sessions, keyed by the object, account and content that they upload; kept while the component exists.
final class UploadSessions: Sendable {
    private static let most = 1_000
    private let sessions = Mutex<[String: UploadSession]>([:])

    subscript(key: String) -> UploadSession? {
        get { sessions.withLock { $0[key] } }
        set {
            sessions.withLock { sessions in
                if sessions.count >= Self.most { sessions = [:] }
                sessions[key] = newValue
            }
        }
    }
}

/// The requests of one resumable upload.
private struct ResumableUpload {
    static let mostSessions = 3
    static let mostFailures = 3
    let http: HTTPClient
    let order: HTTPOrder
    let length: Int64
    let call: Call

    func start(_ name: String, at url: String) async throws -> HTTPResponse {
        let type = order.request.headers["Content-Type"] ?? "application/octet-stream"
        struct Metadata: Encodable {
            var name, contentType: String
        }
        let body = try HTTPBody.json(Metadata(name: name, contentType: type))
        return try await send("start", to: "\(url)?name=\(name.percentEncoded)", body) { fields in
            fields["X-Goog-Upload-Protocol"] = "resumable"
            fields["X-Goog-Upload-Header-Content-Length"] = "\(length)"
            fields["X-Goog-Upload-Header-Content-Type"] = type
        }
    }

    func query(_ session: UploadSession) async throws -> HTTPResponse { try await send("query", to: session.url) }

    func send(_ piece: [UInt8], at offset: Int64, isLast: Bool, to session: UploadSession) async throws -> HTTPResponse
    {
        try await send(isLast ? "upload, finalize" : "upload", to: session.url, .bytes(piece)) { fields in
            fields["X-Goog-Upload-Offset"] = "\(offset)"
        }
    }

    private func send(
        _ command: String, to url: String, _ body: HTTPBody = .none, _ complete: (inout HTTPHeaders) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var fields: HTTPHeaders = ["X-Goog-Upload-Command": command]
        complete(&fields)
        return try await http.send(
            HTTPRequest("POST", url, headers: fields, body: body), call, order.options())
    }
}

/// The content of an upload, which is reread from its start if an earlier piece is needed.
private final class UploadContent {
    private let body: HTTPBody
    private var stream: HTTPBodyStream.AsyncIterator?
    private var position: Int64 = 0
    /// The bytes that were read and are not part of a piece yet.
    private var rest: [UInt8] = []

    init(_ body: HTTPBody) { self.body = body }

    func length() throws -> Int64 { try body.open().length ?? 0 }

    /// Returns `size` bytes at an offset, or fewer at the end of the content.
    func piece(at offset: Int64, _ size: Int) async throws -> [UInt8] {
        if stream == nil || offset != position {
            (stream, position, rest) = (try body.open().makeAsyncIterator(), 0, [])
            while position < offset {
                guard let bytes = try await stream?.next() else { break }
                let skipped = min(Int64(bytes.count), offset - position)
                rest = Array(bytes.dropFirst(Int(skipped)))
                position += skipped
            }
        }
        var piece = rest
        while piece.count < size, let bytes = try await stream?.next() { piece += bytes }
        rest = Array(piece.dropFirst(size))
        piece = Array(piece.prefix(size))
        position += Int64(piece.count)
        return piece
    }
}
