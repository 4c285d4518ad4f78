import Backplane
import BackplaneNetwork
import FoundationEssentials
import Glibc

/// An executor for `file:` URLs in the manifest's folder, with HTTP semantics: a missing file is a 404.
///
/// Both `file:almanac/events.json` and `file:///almanac/events.json` are relative to that folder. Nothing outside it
/// can be reached, neither through `..` nor through symbolic links.
struct FileExecutor: HTTPExecutor {
    /// The manifest's folder, or `nil` if the manifest is not a file, so that nothing can be served.
    let folder: String?
    let schemes = ["file"]

    /// The maximum size of a file in bytes, since bodies are held in memory.
    static let maximumSize = 64 << 20

    func execute(_ request: HTTPRequest) async throws(BackplaneError) -> HTTPResponse {
        let url = request.url
        guard let folder else {
            throw BackplaneError(
                .networkRefused, "`file:` URLs are relative to the manifest's folder, but this manifest is not a file",
                at: url)
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return HTTPResponse(status: 405, headers: ["Allow": "GET, HEAD"])
        }
        let path = try path(of: url)
        do throws(SystemError) {
            let file = try FileDescriptor(readingBeneath: folder, path)
            let status = try FileStatus(of: file)
            guard status.kind == .file else { return HTTPResponse(status: 404) }
            guard status.size <= Self.maximumSize else { throw SystemError(EFBIG) }
            let body = try file.bytes(count: status.size)
            return HTTPResponse(
                status: 200, headers: ["Content-Length": "\(body.count)"], body: request.method == "HEAD" ? [] : body)
        } catch {
            switch error.number {
            case ENOENT, ENOTDIR: return HTTPResponse(status: 404)
            case EXDEV, ELOOP:
                throw BackplaneError(
                    .networkRefused,
                    "this path leaves the manifest's folder, or goes through a symbolic link; `file:` URLs stay below \(folder)",
                    at: url)
            case EFBIG:
                throw BackplaneError(
                    .networkTooLarge,
                    "the file has more than \(Self.maximumSize) bytes, the limit for files that are held in memory",
                    at: url)
            default: throw BackplaneError(.networkFailed, "the file cannot be read: \(error)", at: url)
            }
        }
    }

    /// Returns the decoded path of a URL, without query and fragment.
    private func path(of url: String) throws(BackplaneError) -> String {
        var path = url.dropFirst("file:".count)
        if path.hasPrefix("//") { path = path.dropFirst(2) }
        while path.hasPrefix("/") { path = path.dropFirst() }
        path = path.prefix { $0 != "?" && $0 != "#" }
        guard !path.isEmpty, let decoded = URL(string: "file:///\(path)")?.path(percentEncoded: false).dropFirst(),
            !decoded.isEmpty
        else {
            throw BackplaneError(
                .networkRefused,
                "this is not a file URL; write `file:` and a path relative to the manifest's folder", at: url)
        }
        return String(decoded)
    }
}
