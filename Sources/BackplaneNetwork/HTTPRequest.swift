import Backplane

/// The method, URL, header fields and body of a message to a server.
public struct HTTPRequest: Sendable {
    /// The method, which may be any token: `GET`, `POST`.
    ///
    /// The methods of the standard become upper-case, because methods are case-sensitive: `get` is `GET`.
    public var method: String {
        didSet { method = Self.standard(method) }
    }
    /// The URL: absolute, or `file:` with a path relative to the manifest's folder.
    public var url: String
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; ``HTTPBody/none`` for a request without one.
    public var body: HTTPBody

    /// Creates a request, by default a `GET` without header fields and body.
    public init(_ method: String = "GET", _ url: String, headers: HTTPHeaders = [:], body: HTTPBody = .none) {
        (self.method, self.url, self.headers, self.body) = (Self.standard(method), url, headers, body)
    }

    /// The methods of the standard that are idempotent (RFC 9110, section 9.2.2).
    package static let idempotentMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    /// Returns a method of the standard in upper case, and any other method unchanged.
    static func standard(_ method: String) -> String {
        guard method.utf8.contains(where: { $0 >= UInt8(ascii: "a") }) else { return method }
        let standard = method.uppercased()
        let all = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"]
        return all.contains(standard) ? standard : method
    }

    /// Creates a request whose body is in memory; without bytes, it has no body.
    public init(_ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8]) {
        self.init(method, url, headers: headers, body: .bytes(body))
    }

    /// The part of the URL before its first colon, in lower case; empty if there is no colon.
    public var scheme: String {
        url.utf8.firstIndex(of: UInt8(ascii: ":")).map { url[..<$0].lowercased() } ?? ""
    }
}

extension HTTPRequest {
    /// The host and port of the URL as used in errors; empty if it has none.
    package var authority: String { WebURL(url)?.authority ?? "" }

    /// The host of the URL, encoded for DNS if it is an international name; empty if it has none.
    package var host: String { WebURL(url)?.host ?? "" }

    /// The host name by which settings are keyed: in lower case, without the trailing dot that certificates omit.
    package var hostName: String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The URL without credentials, query and fragment, which may contain secrets.
    public var printableURL: String {
        guard var address = WebURL(url), address.host != nil || !url.contains("@") else { return "\(scheme):…" }
        (address.userInfo, address.query) = (nil, nil)
        return address.text
    }
}

extension HTTPRequest {
    /// The equivalent curl command, without secrets.
    ///
    /// Values of header fields that may contain credentials, the query, credentials in the URL and the body are
    /// replaced by `…`.
    public var curlDescription: String {
        let query = url.utf8.contains(UInt8(ascii: "?")) ? "?…" : ""
        return CurlText(self, url: printableURL + query, body: body.isEmpty ? nil : "…") { field in
            Self.plainFields.contains(field.name.lowercased()) ? field.value : "…"
        }.text
    }

    /// The equivalent curl command, including all secrets, for use in a shell.
    ///
    /// curl reads a streamed body from standard input.
    public var expandedCurlDescription: String {
        CurlText(self, url: WebURL(url)?.text ?? url, body: nil) { $0.value }.text
    }

    private static let plainFields: Set<String> = [
        "accept", "accept-encoding", "accept-language", "cache-control", "content-encoding", "content-language",
        "content-type", "expect", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "last-event-id", "pragma", "range", "traceparent", "user-agent",
    ]
}

/// A curl command line, quoted for a shell.
private struct CurlText {
    private(set) var text = ""

    init(_ request: HTTPRequest, url: String, body: String?, value: (HTTPHeaders.Field) -> String) {
        let hasBody = !request.body.isEmpty
        // curl must send the URL as it is: it would expand patterns and resolve `..`.
        var words = ["curl", "--globoff", "--path-as-is"]
        switch request.method {
        case "GET" where !hasBody: break
        case "HEAD" where !hasBody: words.append("--head")
        default: words += ["--request", Self.quoted(request.method)]
        }
        for field in request.headers.fields where !HTTPHeaders.ofFraming.contains(field.name.lowercased()) {
            let value = value(field)
            words += ["--header", Self.quoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")]
        }
        if let type = request.body.mediaType, request.headers["Content-Type"] == nil {
            words += ["--header", Self.quoted("Content-Type: \(type)")]
        }
        // The fields that curl would add.
        var added = ["Accept", "User-Agent"]
        if hasBody { added += ["Expect"] + (request.body.mediaType == nil ? ["Content-Type"] : []) }
        for name in added where request.headers[name] == nil { words += ["--header", Self.quoted("\(name):")] }
        var input = ""
        if hasBody {
            if let body {
                words += ["--data-raw", Self.quoted(body)]
            } else if let path = request.body.file {
                words += ["--data-binary", Self.quoted("@\(path)")]
            } else if let text = request.body.bytes.flatMap(Self.text), text.utf8.count <= Self.longest {
                words += ["--data-raw", Self.quoted(text)]
            } else {
                words += ["--data-binary", "@-"]
                if let segments = request.body.segments {
                    // If a file is missing, the shell reports which one, and the request is not sent.
                    let files = segments.compactMap { if case .file(let path) = $0 { path } else { nil } }
                    input = files.map { "head -c 0 -- \(Self.quoted($0)) && " }.joined()
                    input += "{ \(segments.map(Self.printing).joined(separator: "; ")); } | "
                }
            }
        }
        text = input + (words + [Self.quoted(url)]).joined(separator: " ")
    }

    /// The maximum size of an argument of curl; longer text is printed by the shell itself.
    ///
    /// Linux accepts arguments of less than 128 KB.
    private static let longest = 64 << 10

    /// Returns the shell command that prints a part of a body.
    private static func printing(_ segment: BodySegment) -> String {
        switch segment {
        case .file(let path): return "cat < \(quoted(path))"
        case .bytes(let bytes):
            return text(bytes).map { "printf %s \(quoted($0))" } ?? "printf %b '\(bytes.map(octal).joined())'"
        }
    }

    /// Returns the text of bytes; `nil` if a shell word cannot contain them.
    private static func text(_ bytes: [UInt8]) -> String? {
        bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func quoted(_ text: String) -> String {
        // A quote with a combining mark is one character, but still ends the word.
        "'" + text.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\0" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
    }
}
