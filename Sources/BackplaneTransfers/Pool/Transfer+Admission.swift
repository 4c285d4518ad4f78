import Backplane
import BackplaneNetwork
import BackplaneRecords
import FoundationEssentials

extension Transfer {
    /// Returns the transfer with absolute paths, as a pool stores it.
    ///
    /// - Throws: `transfer.refused` if a pool cannot perform it, or could not perform it after a restart.
    func admitted() throws(BackplaneError) -> Transfer {
        guard (1...RecordLimits.id).contains(id.utf8.count) else {
            throw Self.refused("expected an id of 1 to \(RecordLimits.id) bytes, found \(id.utf8.count) bytes", "")
        }
        let request = request
        if let address = URLComponents(string: request.url), address.user != nil || address.password != nil {
            throw Self.refused(
                "the URL contains credentials, which would be stored; give them in an `Authorization` field",
                request.printableURL)
        }
        var admitted = self
        switch work {
        case .download(var request, let path, let settings):
            try Self.check(request, path, settings)
            request.body = .none
            admitted.work = .download(request, to: Self.absolute(path), settings)
        case .upload(var request):
            request.body = try Self.kept(request.body, of: request)
            admitted.work = .upload(request)
        }
        return admitted
    }

    private static func check(
        _ request: HTTPRequest, _ path: String, _ settings: Download
    ) throws(BackplaneError) {
        guard request.method == "GET", request.body.isEmpty else {
            throw refused("a download is a GET without a body", request.printableURL)
        }
        if let own = ["Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"]
            .first(where: { request.headers[$0] != nil })
        {
            throw refused("the field \(own) is set by the download itself; leave it out", request.printableURL)
        }
        guard TargetPath(path) != nil else {
            throw BackplaneError(.networkFile, "this path does not name a file to download to", at: path.shownID)
        }
        guard let sha256 = settings.sha256, sha256.count != 32 else { return }
        throw refused("expected a SHA-256 of 32 bytes, found \(sha256.count) bytes", request.printableURL)
    }

    /// Returns the body with absolute paths, so that it can be sent again after a restart.
    private static func kept(_ body: HTTPBody, of request: HTTPRequest) throws(BackplaneError) -> HTTPBody {
        guard let segments = body.segments else {
            throw refused(
                "the body is a stream, which cannot be read again after a restart; upload bytes, a file or a form",
                request.printableURL)
        }
        var count = 0, kept: [BodySegment] = []
        for segment in segments {
            switch segment {
            case .bytes(let bytes):
                count += bytes.count
                kept.append(segment)
            case .file(let path): kept.append(.file(absolute(path)))
            }
        }
        guard count <= TransferPool.bodyLimit else {
            throw refused(
                "the body has \(count) bytes in memory, more than \(TransferPool.bodyLimit); upload it from a file",
                request.printableURL)
        }
        return HTTPBody(segments: kept, type: body.mediaType)
    }

    /// Returns the absolute form of a path, which remains valid after a restart in another folder.
    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    private static func refused(_ why: String, _ place: String) -> BackplaneError {
        BackplaneError(.transferRefused, why, at: place.isEmpty ? nil : place)
    }
}
