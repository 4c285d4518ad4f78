import Backplane
import BackplaneNetwork

/// A library that lies ready in the load folder, together with the files that came with it. Nothing of it has run.
struct PreparedLibrary: Sendable {
    let file: LibraryFile
    /// Where the copy of its files is; `nil`: it came without.
    let resources: String?
    /// What the manifest names it by; `nil`: nothing does.
    let reference: PluginReference?

    /// Checks the library at `path`, and copies it and its files into `folder`.
    ///
    /// - Parameters:
    ///   - names: of the folders with libraries' files, as far as they were looked at.
    ///   - generation: as for ``LibraryCopy/checked(for:as:)``.
    init(
        _ path: String, _ reference: PluginReference?, in folder: LoadFolder, _ digest: (any ContentDigest)?, _ names: inout ResourceFolder.Names,
        as generation: (String?) -> (plugin: String?, number: Int)
    ) throws(BackplaneError) {
        file = try LibraryFile.prepare(path, sha256: reference?.sha256, in: folder, digest: digest, as: generation)
        resources = try ResourceFolder.copy(besides: file, named: reference?.resources, &names)
        self.reference = reference
    }
}
