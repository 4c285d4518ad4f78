/// The treatment of a file that exists where a download is to go.
public enum ExistingFile: String, Sendable {
    /// The download replaces it.
    case replace
    /// It is kept, and nothing is fetched; if it appears meanwhile, the download is given up.
    case keep
    /// It is kept, and the download gets the first free name of `whale-2.epub`, `whale-3.epub` and so on.
    case number
}
