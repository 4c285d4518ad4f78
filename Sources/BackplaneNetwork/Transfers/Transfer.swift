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
    ///
    /// A component's transfers belong to its plugin, whatever is given here.
    public var owner: String
    /// The priority; transfers with a greater one begin before all others.
    public var priority: Int
    /// The credential that proves who asks, by its name in a host's manifest; `nil` for none.
    ///
    /// A transfer whose account is not signed in is paused with `transfer.credentials`.
    public var credential: String?
    /// The account of the credential; `nil` for the one that needs no sign-in.
    public var account: String?
    /// The component that began it, as observers of exchanges see it, and the managers that it belongs to.
    package var sender: String?
    package var managers: [String] = []

    /// Creates a description of a download or an upload, which a pool begins.
    public init(_ id: String, _ work: Work, owner: String = "", priority: Int = 0) {
        (self.id, self.work, self.owner, self.priority) = (id, work, owner, priority)
    }
}
