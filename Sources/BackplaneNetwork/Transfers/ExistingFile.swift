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
