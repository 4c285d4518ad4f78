#if Engines
import HTTPTypes
import Hummingbird

/// The routes of `/v2/files`: uploads, and downloads of a whole file or a part of it.
struct FileRoutes: Sendable {
    private struct Receipt: Encodable {
        var name: String
        var size: Int
        var etag: String
    }
    let sessions: Sessions
    let files: FileStore

    func add(to router: BookshelfRouter) {
        router.route("/v2/files/:name", [.put: upload, .get: download, .delete: remove])
    }

    private func upload(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        try sessions.authorize(request)
        let name = try name(in: context)
        let (file, isNew) = try await files.put(name, from: request)
        let receipt = Receipt(name: name, size: file.size, etag: file.tag.description)
        return try .json(receipt, status: isNew ? .created : .ok, headers: [.eTag: file.tag.description])
    }

    private func download(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let file = try file(in: context)
        var headers: HTTPFields = [.eTag: file.tag.description, .acceptRanges: "bytes", .cacheControl: "no-cache"]
        if file.tag.isKnown(to: request) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = "application/octet-stream"
        headers[.xContentTypeOptions] = "nosniff"
        // Ranges apply to GET only, and only while the file is the one the client knows (RFC 9110, 13.1.5 and 14.2).
        let header = request.method == .get && file.tag.allowsRange(of: request) ? request.headers[.range] : nil
        switch ByteRange(header, size: file.size) {
        case .whole:
            return Response(
                status: .ok, headers: headers,
                body: try await body(of: file, file.size == 0 ? nil : 0...file.size - 1, context))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(file.size)"
            return Response(status: .partialContent, headers: headers, body: try await body(of: file, range, context))
        case .unsatisfiable:
            throw Failure(
                .rangeNotSatisfiable, "range.unsatisfiable",
                "The file has \(file.size) bytes, none of which is in this range.",
                headers: [.contentRange: "bytes */\(file.size)", .acceptRanges: "bytes"])
        }
    }

    private func remove(_ request: Request, _ context: BasicRequestContext) throws -> Response {
        try sessions.authorize(request)
        let name = try name(in: context)
        guard files.remove(name) else { throw Failure.unknownFile(name) }
        return Response(status: .noContent)
    }

    /// Returns a body that keeps the file alive while it is read, even if its name is reused or removed in the
    /// meantime.
    private func body(of file: UploadedFile, _ range: ClosedRange<Int>?, _ context: BasicRequestContext) async throws
        -> ResponseBody
    {
        guard let range else { return ResponseBody() }
        let bytes = try await FileIO().loadFile(path: file.path, range: range, context: context)
        return ResponseBody(contentLength: range.count) { writer in
            try await bytes.write(writer)
            withExtendedLifetime(file) {}
        }
    }

    private func file(in context: BasicRequestContext) throws(Failure) -> UploadedFile {
        let name = try name(in: context)
        guard let file = files[name] else { throw .unknownFile(name) }
        return file
    }

    private func name(in context: BasicRequestContext) throws(Failure) -> String {
        let name = context.parameters.get("name") ?? ""
        guard FileStore.isName(name) else {
            throw Failure(
                .badRequest, "file.name-invalid",
                "A file's name has 1 to 100 of A-Z, a-z, 0-9, `.`, `_` and `-`, and no `.` in front.")
        }
        return name
    }
}

extension Failure {
    fileprivate static func unknownFile(_ name: String) -> Failure {
        Failure(.notFound, "file.unknown", "There is no file `\(name)`.")
    }
}
#endif
