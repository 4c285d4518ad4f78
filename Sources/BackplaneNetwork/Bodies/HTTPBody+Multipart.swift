extension HTTPBody {
    /// Returns parts as `multipart/form-data` (RFC 7578), in order; files are read while they are sent.
    public static func multipart(_ parts: [HTTPPart]) -> HTTPBody {
        // 128 random bits: no part contains the boundary, and none has to be searched for it.
        let random = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return multipart(parts, boundary: "backplane-\(String(random.0, radix: 36))\(String(random.1, radix: 36))")
    }

    /// Returns parts with a boundary chosen by a test.
    package static func multipart(_ parts: [HTTPPart], boundary: String) -> HTTPBody {
        var segments: [BodySegment] = [], text = ""
        for part in parts {
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name.escapedInQuotes)\""
            if let fileName = part.fileName { text += "; filename=\"\(fileName.escapedInQuotes)\"" }
            if let type = part.mediaType { text += "\r\nContent-Type: \(type.withoutLineBreaks)" }
            text += "\r\n\r\n"
            segments += [.bytes(Array(text.utf8)), part.content]
            text = "\r\n"
        }
        segments.append(.bytes(Array("\(text)--\(boundary)--\r\n".utf8)))
        return HTTPBody(.segments(segments), type: "multipart/form-data; boundary=\(boundary)")
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
    ///
    /// - Parameters:
    ///   - name: The name of the form's field.
    ///   - path: The path of the file.
    ///   - fileName: The file name that is sent to the server; `nil` means the last component of the path.
    ///   - type: The media type.
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

    fileprivate var withoutLineBreaks: String {
        var text = ""
        text.unicodeScalars.append(contentsOf: unicodeScalars.filter { $0 != "\r" && $0 != "\n" })
        return text
    }
}
