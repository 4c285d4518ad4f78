#if Engines
import Backplane
import BackplaneApp
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneScreens
import HTTPTypes
import Hummingbird
import NIOCore

/// The images of screens, which browsers load from this server, and the server through the host's client and cache.
///
/// A browser asks again for each image that it has, so that the host's cache alone decides how long an image is fresh.
struct ScreenImages: Sendable {
    /// The maximum number of bytes of an image.
    private static let limit = 5 << 20
    private static let timeout = Duration.seconds(30)
    /// The types by file extension. Browsers run no scripts in images.
    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "svg": "image/svg+xml",
    ]
    let host: PluginHost
    private let files = WorkerThreads("bp-images")

    init(_ host: PluginHost) { self.host = host }

    /// Returns the key by which pages refer to the image with an address, until the program ends.
    static func key(of address: String) -> String {
        String(UInt(bitPattern: address.hashValue), radix: 36)
    }

    /// Returns the image with a key, which one of the drawings must show.
    func image(_ key: String, in drawings: [WindowDrawing]) async -> Response {
        for drawing in drawings {
            let image = drawing.firstView { view in
                view.kind == .image && !view.address.isEmpty && Self.key(of: view.address) == key
            }
            guard let address = image?.address else { continue }
            return address.hasPrefix("/") ? await file(address) : await load(address)
        }
        return Self.missing(404)
    }

    private func load(_ address: String) async -> Response {
        guard address.isOnTheWeb else { return Self.missing(404) }
        var options = HTTPOptions()
        (options.cache, options.redirects, options.totalTimeout) = (.http, 5, Self.timeout)
        let request = BackplaneNetwork.HTTPRequest("GET", address, headers: ["Accept": "image/*"])
        let answer: BackplaneNetwork.HTTPResponse
        do { answer = try await host.network.send(request, upTo: Self.limit, options) } catch {
            return Self.missing(502)
        }
        let type = (answer.headers["Content-Type"] ?? "").prefix { $0 != ";" }.trimmingBlanks.lowercased()
        guard answer.status == 200, Self.types.values.contains(type) else { return Self.missing(502) }
        let isKept = !BackplaneExchange.CacheControl(answer.headers).has("no-store")
        let tag = isKept ? ContentDigest.sha256(of: answer.body).hexadecimal : nil
        return Response(
            status: .ok, headers: Self.fields(type, tag: tag),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    private func file(_ path: String) async -> Response {
        let ending = path.split(separator: ".").last?.lowercased() ?? ""
        guard let type = Self.types[ending], let file = try? await files.run({ try SentFile(path) }),
            file.size <= Int64(Self.limit)
        else { return Self.missing(404) }
        let tag = "\(file.modified.seconds).\(file.modified.nanoseconds)-\(file.size)"
        return Response(
            status: .ok, headers: Self.fields(type, tag: tag),
            body: ResponseBody(contentLength: Int(file.size)) { [files] writer in
                try await file.send(0..<file.size, to: &writer, on: files)
            })
    }

    /// Returns the fields of an answer.
    ///
    /// - Parameter tag: The text that changes with the image; `nil` if a browser may not keep it.
    private static func fields(_ type: String, tag: String? = nil) -> HTTPFields {
        var fields: HTTPFields = [
            // A drawing that is opened by itself may not load or run anything.
            .contentType: type, .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        ]
        fields[.cacheControl] = tag == nil ? "no-store" : "private, no-cache"
        fields[.eTag] = tag.map { "\"\($0)\"" }
        return fields
    }

    /// Returns the placeholder for an image that cannot be shown.
    private static func missing(_ status: Int) -> Response {
        let drawing = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="96" height="96" fill="none" \
            stroke="#767a82" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">\
            <rect x="3" y="4" width="18" height="16" rx="2"/><circle cx="9" cy="9.5" r="1.5"/>\
            <path d="m3.5 17.5 5-4.5 3 2.5M14 13.5l2-1.5 4.5 4.5M4 21 20 3"/></svg>
            """
        return Response(
            status: .init(code: status), headers: fields("image/svg+xml"),
            body: ResponseBody(byteBuffer: ByteBuffer(string: drawing)))
    }
}

extension String {
    fileprivate var isOnTheWeb: Bool {
        let start = prefix(8).lowercased()
        return start.hasPrefix("http://") || start == "https://"
    }
}
#endif
