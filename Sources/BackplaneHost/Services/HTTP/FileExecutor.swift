import Backplane
import BackplaneExchange
import BackplaneNetwork
import FoundationEssentials
import Glibc
import Synchronization

/// An executor for `file:` URLs in the manifest's folder, with HTTP semantics: a missing file is a 404.
///
/// Both `file:almanac/events.json` and `file:///almanac/events.json` are relative to that folder. Nothing outside that
/// folder can be accessed, either through `..` or through symbolic links.
struct FileExecutor: HTTPExecutor {
    /// The manifest's folder, or `nil` if the manifest is not a file, so that nothing can be served.
    let folder: String?
    let schemes = ["file"]
    /// The body of a request is ignored.
    let capabilities: HTTPCapabilities = [.streamedUploads, .contentInGET]

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request, options)
        return try answer(request)
    }

    private func answer(_ request: HTTPRequest) throws(BackplaneError) -> HTTPStreamedResponse {
        let url = request.url
        guard let folder else {
            throw BackplaneError(
                .networkRefused, "`file:` URLs are relative to the manifest's folder, but this manifest is not a file",
                at: url)
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return .empty(405, ["Allow": "GET, HEAD"])
        }
        let path = try path(of: url)
        do throws(SystemError) {
            let file = try FileDescriptor(readingBeneath: folder, path)
            let status = try FileStatus(of: file)
            guard status.kind == .file else { return .empty(404) }
            let length = status.size, headers: HTTPHeaders = ["Content-Length": "\(length)"]
            if request.method == "HEAD" { return .empty(200, headers) }
            var response = HTTPStreamedResponse(
                status: 200, headers: headers, body: ServedFile(file, length: length, url: url).stream)
            response.source = .file
            return response
        } catch {
            switch error.number {
            case ENOENT, ENOTDIR: return .empty(404)
            case EXDEV, ELOOP:
                throw BackplaneError(
                    .networkRefused,
                    "this path leaves the manifest's folder, or goes through a symbolic link; `file:` URLs must stay below \(folder)",
                    at: url)
            default: throw BackplaneError(.networkFile, "the file cannot be read: \(error)", at: url)
            }
        }
    }

    private func path(of url: String) throws(BackplaneError) -> String {
        // Byte by byte: a combining character after a delimiter is one character with it.
        let path = url.utf8.dropFirst("file:".utf8.count).drop { $0 == UInt8(ascii: "/") }
            .prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard !path.isEmpty,
            let decoded = URL(string: "file:///\(Substring(path))")?.path(percentEncoded: false).dropFirst(),
            !decoded.isEmpty
        else {
            throw BackplaneError(
                .networkRefused,
                "this is not a file URL; write `file:` and a path relative to the manifest's folder", at: url)
        }
        return String(decoded)
    }
}

extension HTTPStreamedResponse {
    fileprivate static func empty(_ status: Int, _ headers: HTTPHeaders = [:]) -> HTTPStreamedResponse {
        var response = HTTPStreamedResponse(HTTPResponse(status: status, headers: headers))
        response.source = .file
        return response
    }
}

private final class ServedFile: Sendable {
    private static let chunkSize = 128 << 10
    private let file: FileDescriptor
    private let length: Int
    private let url: String
    private let rest: Mutex<Int>

    init(_ file: consuming FileDescriptor, length: Int, url: String) {
        self.file = file
        (self.length, self.url) = (length, url)
        rest = Mutex(length)
    }

    var stream: HTTPBodyStream {
        HTTPBodyStream(length: Int64(length)) { try self.next() }
    }

    private func next() throws(BackplaneError) -> [UInt8]? {
        try rest.withLock { rest throws(BackplaneError) -> [UInt8]? in
            guard rest > 0 else { return nil }
            do throws(SystemError) {
                let chunk = try file.bytes(count: min(rest, Self.chunkSize))
                guard !chunk.isEmpty else { throw SystemError(EIO) }  // it was shortened in the meantime
                rest -= chunk.count
                return chunk
            } catch {
                throw BackplaneError(.networkFile, "the file cannot be read: \(error)", at: url)
            }
        }
    }
}
