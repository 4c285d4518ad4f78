public import BackplaneNetwork

/// A download or an upload that a pool is to carry out, under an id.
///
/// ```swift
/// let text = Transfer("books/whale.epub", .download(HTTPRequest("GET", url), to: "/data/whale.epub"))
/// let cover = Transfer("covers/whale.png", .upload(HTTPRequest("PUT", url, body: .file("/data/whale.png"))))
/// ```
public struct Transfer: Sendable {
    /// The direction, with the request and the file or bytes.
    public enum Work: Sendable {
        /// Loads a file with a `GET`, and moves it to a path once it is whole.
        case download(HTTPRequest, to: String, Download = Download())
        /// Sends a request whose body is in memory, in files, or a form of both.
        case upload(HTTPRequest)
    }

    /// The settings of a download.
    public struct Download: Sendable {
        /// The treatment of a file that exists at the path already.
        public var existing: ExistingFile
        /// The SHA-256 of the file, 32 bytes; `nil` checks none.
        public var sha256: [UInt8]?
        /// The greatest number of bytes; `nil` means as many as the disk takes.
        public var sizeLimit: Int64?

        /// Creates settings, by default those that replace an existing file and check no digest.
        public init(existing: ExistingFile = .replace, sha256: [UInt8]? = nil, sizeLimit: Int64? = nil) {
            (self.existing, self.sha256, self.sizeLimit) = (existing, sha256, sizeLimit)
        }
    }

    /// The id: any text of 1 byte to 1 MB, which names no file.
    public var id: String
    /// The download or the upload.
    public var work: Work
    /// The name that transfers share a pool by: each owner gets as many places as every other.
    public var owner: String
    /// The priority; transfers with a greater one begin before all others.
    public var priority: Int

    /// Creates a description of a download or an upload, which a pool begins.
    public init(_ id: String, _ work: Work, owner: String = "", priority: Int = 0) {
        (self.id, self.work, self.owner, self.priority) = (id, work, owner, priority)
    }
}

extension Transfer {
    /// The request.
    var request: HTTPRequest {
        get {
            switch work {
            case .download(let request, _, _), .upload(let request): request
            }
        }
        set {
            switch work {
            case .download(_, let path, let settings): work = .download(newValue, to: path, settings)
            case .upload: work = .upload(newValue)
            }
        }
    }

    /// The path that is downloaded to; `nil` for an upload.
    var target: String? {
        if case .download(_, let path, _) = work { path } else { nil }
    }

    /// Returns whether both do the same, whatever credentials they use.
    func isSame(as other: Transfer) -> Bool {
        request.method == other.request.method && request.url == other.request.url && target == other.target
    }
}
