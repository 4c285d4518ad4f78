/// A download or an upload for a pool, identified by an id.
///
/// ```swift
/// let text = Transfer("books/whale.epub", .download(HTTPRequest("GET", url), to: "/data/whale.epub"))
/// let cover = Transfer("covers/whale.png", .upload(HTTPRequest("PUT", url, body: .file("/data/whale.png"))))
/// ```
public struct Transfer: Sendable {
    /// The direction, with the request and the file or bytes.
    public enum Work: Sendable {
        /// Downloads a file with a `GET` request, and moves it to a path once it is complete.
        case download(HTTPRequest, to: String, Download = Download())
        /// Sends a request whose body is in memory, in files, or a form with both.
        case upload(HTTPRequest)
    }

    /// The settings of a download.
    public struct Download: Sendable {
        /// The policy for a file that already exists at the path.
        public var existing: ExistingFile
        /// The expected SHA-256 of the file, 32 bytes; `nil` means that it is not checked.
        public var sha256: [UInt8]?
        /// The maximum number of bytes; `nil` means no limit.
        public var sizeLimit: Int64?

        /// Creates settings, which by default replace an existing file and do not check a digest.
        public init(existing: ExistingFile = .replace, sha256: [UInt8]? = nil, sizeLimit: Int64? = nil) {
            (self.existing, self.sha256, self.sizeLimit) = (existing, sha256, sizeLimit)
        }
    }

    /// The id: any string from 1 byte to 1 MB, which is not used as a file name.
    public var id: String
    /// The download or the upload.
    public var work: Work
    /// The owner; the capacity of a pool is shared equally among owners.
    ///
    /// A component's transfers belong to its plugin, regardless of this value.
    public var owner: String
    /// The priority; transfers with a higher one start first.
    public var priority: Int
    /// The name of the credential in the host's manifest; `nil` for none.
    ///
    /// A transfer whose account is not signed in is paused with `transfer.credentials`.
    public var credential: String?
    /// The account of the credential; `nil` for the account that needs no sign-in.
    public var account: String?
    /// The component that started the transfer, for observers of exchanges, and the managers to which it belongs.
    package var sender: String?
    package var managers: [String] = []

    /// Creates the description of a download or an upload.
    public init(_ id: String, _ work: Work, owner: String = "", priority: Int = 0) {
        (self.id, self.work, self.owner, self.priority) = (id, work, owner, priority)
    }
}

/// The policy for a file that already exists at the target of a download.
public enum ExistingFile: String, Sendable {
    /// The download replaces it.
    case replace
    /// The file is kept and nothing is fetched; if it appears during the download, the download is abandoned.
    case keep
    /// The file is kept, and the download is stored under the first free name of `whale-2.epub`, `whale-3.epub` and so
    /// on.
    case number
}
