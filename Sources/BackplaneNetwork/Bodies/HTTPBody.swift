public import Backplane
public import FoundationEssentials
import Synchronization

/// The body of a request.
///
/// ```swift
/// HTTPRequest("POST", url, body: try .json(book))
/// HTTPRequest("PUT", url, body: .file("/data/whale.epub", type: "application/epub+zip"))
/// HTTPRequest("POST", url, body: .multipart([.text("title", "Moby-Dick"), .file("cover", "/data/whale.png")]))
/// ```
///
/// A body is a passive value: ``open()`` creates a stream of its bytes. For a replayable body, it does so each time
/// that an exchange is repeated.
public struct HTTPBody: Sendable {
    enum Content: Sendable {
        case segments([BodySegment])
        case stream(length: Int64?, open: @Sendable () throws -> HTTPBodyStream)
    }
    let content: Content
    /// The media type that becomes the request's `Content-Type` unless it has one; `nil` adds none.
    public let mediaType: String?
    /// A Boolean value that indicates whether the body can be resent, for a retry or a redirect.
    public let isReplayable: Bool
    /// The path of the file that is the whole body, even if its reading is observed; `nil` for any other body.
    package let file: String?

    init(_ content: Content, type: String?, isReplayable: Bool = true, file: String? = nil) {
        (self.content, mediaType, self.isReplayable) = (content, type, isReplayable)
        if case .segments(let segments) = content, segments.count == 1, case .file(let path) = segments[0] {
            self.file = path
        } else {
            self.file = file
        }
    }

    package init(segments: [BodySegment], type: String?) { self.init(.segments(segments), type: type) }

    /// The pieces of a body that is in memory and in files; `nil` for a body that comes from a sequence.
    package var segments: [BodySegment]? {
        if case .segments(let segments) = content { segments } else { nil }
    }

    /// No body.
    public static var none: HTTPBody { HTTPBody(.segments([]), type: nil) }

    /// Returns a body of bytes in memory.
    public static func bytes(_ bytes: [UInt8], type: String? = nil) -> HTTPBody {
        HTTPBody(.segments(bytes.isEmpty ? [] : [.bytes(bytes)]), type: type)
    }

    /// Returns a body that is read from a file while it is sent.
    ///
    /// The file's length is determined when the body is opened. If the file is shorter or longer when it is read, the
    /// exchange fails.
    public static func file(_ path: String, type: String? = nil) -> HTTPBody {
        HTTPBody(.segments([.file(path)]), type: type)
    }

    /// Returns a body that is read from a sequence, only once, while it is sent.
    ///
    /// - Parameters:
    ///   - chunks: The bytes, in chunks of any size. The next chunk is requested once the previous one has been
    ///     consumed.
    ///   - length: The total number of bytes, or `nil` if it is unknown. If the actual number differs, the exchange
    ///     fails.
    ///   - type: The media type.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, type: String? = nil
    ) -> HTTPBody where Chunks.Element == [UInt8] {
        let once = Once()
        return HTTPBody(
            .stream(length: length) {
                guard once.take() else {
                    throw BackplaneError(
                        .networkBody,
                        "the request's body has already been sent, and comes from a stream that can be read only once; "
                            + "use `.replayable`")
                }
                return HTTPBodyStream(chunks, length: length)
            }, type: type, isReplayable: false)
    }

    /// Returns a body that is read from a sequence while it is sent, and from a new sequence each time it is resent.
    public static func replayable<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil, type: String? = nil, _ chunks: @escaping @Sendable () throws -> Chunks
    ) -> HTTPBody where Chunks.Element == [UInt8] {
        HTTPBody(.stream(length: length) { HTTPBodyStream(try chunks(), length: length) }, type: type)
    }

    /// A Boolean value that indicates whether there is no body.
    public var isEmpty: Bool {
        if case .segments(let segments) = content { segments.isEmpty } else { false }
    }

    /// The whole body, if it is already in memory.
    public var bytes: [UInt8]? {
        guard case .segments(let segments) = content else { return nil }
        switch segments.count {
        case 0: return []
        case 1: if case .bytes(let bytes) = segments[0] { return bytes } else { return nil }
        default: return nil
        }
    }

    /// Returns a body whose bytes are delivered by a producer, with a new stream each time it is sent.
    package static func produced(
        length: Int64?, isReplayable: Bool, _ open: @escaping @Sendable () throws -> HTTPBodyStream
    ) -> HTTPBody {
        HTTPBody(.stream(length: length, open: open), type: nil, isReplayable: isReplayable)
    }

    /// A Boolean value that indicates whether the bytes come from a sequence rather than from memory or files.
    public var isStream: Bool {
        if case .stream = content { true } else { false }
    }

    /// Starts to read the body.
    ///
    /// - Throws: `network.body` if a file cannot be read, or if the body has been sent and cannot be resent; any error
    ///   of a given closure.
    public func open() throws -> HTTPBodyStream {
        switch content {
        case .segments(let segments):
            let reader = try SegmentReader(segments)
            return HTTPBodyStream(length: reader.length) { try reader.next() }
        case .stream(let length, let open):
            let stream = try open()
            return length.map { stream.checked(length: $0) } ?? stream
        }
    }

    package func observed(
        opened: @escaping @Sendable (Int64?) -> Void, taken: @escaping @Sendable (Int) -> Void
    ) -> HTTPBody {
        let body = self
        return HTTPBody(
            .stream(length: nil) {
                let stream = try body.open()
                opened(stream.length)
                return stream.tapped(piece: { piece, _ in taken(piece.count) })
            }, type: mediaType, isReplayable: isReplayable, file: file)
    }

    package func collected(upTo limit: Int) async throws -> HTTPBody {
        if bytes != nil { return self }
        let stream = try open()
        if let length = stream.length, length > limit { throw BackplaneError.bodyTooLarge(limit: limit) }
        do {
            return .bytes(try await stream.collect(upTo: limit), type: mediaType)
        } catch let error as BackplaneError where error.code == .networkTooLarge {
            throw BackplaneError.bodyTooLarge(limit: limit)
        }
    }
}

extension BackplaneError {
    package static func bodyTooLarge(limit: Int) -> BackplaneError {
        BackplaneError(
            .networkTooLarge,
            "the body of the request has more than \(limit) bytes, which is the limit for bodies in memory"
        )
    }
}

extension HTTPBody {
    /// Returns a body of text in UTF-8.
    public static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> HTTPBody {
        .bytes(Array(text.utf8), type: type)
    }

    /// Returns a body that contains an encoded value, which can be sent again.
    ///
    /// - Throws: `network.body` if the value cannot be encoded.
    public static func json(
        _ value: some Encodable, encoder: JSONEncoder = JSONEncoder(), type: String = "application/json"
    ) throws(BackplaneError) -> HTTPBody {
        do {
            return .bytes(try encoder.encode(value).withUnsafeBytes { Array($0) }, type: type)
        } catch {
            throw BackplaneError(.networkBody, "the request's body cannot be encoded as JSON: \(error)")
        }
    }

    /// Returns the fields of a form as `application/x-www-form-urlencoded`, in order.
    ///
    /// Spaces become `+`, and all bytes except letters, digits and `*-._` are percent-encoded (WHATWG, URL, section
    /// 5.2).
    public static func form(_ fields: KeyValuePairs<String, String>) -> HTTPBody {
        form(fields.map { ($0.key, $0.value) })
    }

    /// Returns the fields of a form as `application/x-www-form-urlencoded`, in order.
    public static func form(_ fields: [(name: String, value: String)]) -> HTTPBody {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes.append(formEncoding: name)
            bytes.append(UInt8(ascii: "="))
            bytes.append(formEncoding: value)
        }
        return .bytes(bytes, type: "application/x-www-form-urlencoded")
    }
}

extension [UInt8] {
    fileprivate mutating func append(formEncoding text: String) {
        for byte in text.utf8 {
            switch byte {
            case _ where byte.isASCIILetter || byte.isDigit || "*-._".utf8.contains(byte): append(byte)
            case UInt8(ascii: " "): append(UInt8(ascii: "+"))
            default: append(percentEncoding: byte)
            }
        }
    }
}

extension HTTPBody {
    /// Returns parts as `multipart/form-data` (RFC 7578), in order; files are read while they are sent.
    ///
    /// A part whose media type contains a control character makes the body fail when it is sent, with `network.body`.
    public static func multipart(_ parts: [HTTPPart]) -> HTTPBody {
        // 128 random bits: no part contains the boundary, so the parts need not be searched for it.
        let random = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return multipart(parts, boundary: "backplane-\(String(random.0, radix: 36))\(String(random.1, radix: 36))")
    }

    package static func multipart(_ parts: [HTTPPart], boundary: String) -> HTTPBody {
        let type = "multipart/form-data; boundary=\(boundary)"
        var segments: [BodySegment] = [], bytes: [UInt8] = []
        for part in parts {
            if let type = part.mediaType, type.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                return HTTPBody(
                    .stream(length: nil) {
                        throw BackplaneError(
                            .networkBody,
                            "the media type of the part `\(part.name.escapedInQuotes)` contains a control character; "
                                + "expected one such as `text/plain`")
                    }, type: type)
            }
            var text = bytes.isEmpty && segments.isEmpty ? "" : "\r\n"
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name.escapedInQuotes)\""
            if let fileName = part.fileName { text += "; filename=\"\(fileName.escapedInQuotes)\"" }
            if let type = part.mediaType { text += "\r\nContent-Type: \(type)" }
            text += "\r\n\r\n"
            bytes += text.utf8
            if case .bytes(let content) = part.content {
                bytes += content
            } else {
                segments += [.bytes(bytes), part.content]
                bytes = []
            }
        }
        bytes += "\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8
        return HTTPBody(.segments(segments + [.bytes(bytes)]), type: type)
    }
}

/// A part of a multipart form: a field or a file.
public struct HTTPPart: Sendable {
    let name: String
    let fileName: String?
    let mediaType: String?
    let content: BodySegment

    /// Returns a field with a string as its value.
    public static func text(_ name: String, _ value: String) -> HTTPPart {
        HTTPPart(name: name, fileName: nil, mediaType: nil, content: .bytes(Array(value.utf8)))
    }

    /// Returns a part with bytes in memory, which servers treat as a file if it has a file name.
    public static func bytes(
        _ name: String, _ bytes: [UInt8], fileName: String? = nil, type: String = "application/octet-stream"
    ) -> HTTPPart {
        HTTPPart(name: name, fileName: fileName, mediaType: type, content: .bytes(bytes))
    }

    /// Returns a file, which is read while it is sent.
    public static func file(
        _ name: String, _ path: String, fileName: String? = nil, type: String = "application/octet-stream"
    ) -> HTTPPart {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        return HTTPPart(name: name, fileName: fileName ?? last, mediaType: type, content: .file(path))
    }
}

extension String {
    /// The text between the quotes of a `Content-Disposition` parameter (WHATWG, HTML, section 4.10.21.8).
    fileprivate var escapedInQuotes: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            case "\"": text += "%22"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// Something that happens once.
package struct Once: ~Copyable, Sendable {
    private let isTaken = Atomic(false)

    package init() {}

    package func take() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}
