import Backplane

/// A library ready in the load folder, together with its files; none of its code has run.
struct PreparedLibrary: Sendable {
    let file: LibraryFile
    /// The path of the copy of its files; `nil` if it has none.
    let resources: String?
    /// The manifest's reference to it; `nil` if there is none.
    let reference: PluginReference?

    /// Creates a prepared library by checking the one at `path`, and copying it and its files into `folder`.
    ///
    /// - Parameters:
    ///   - names: The names of resource folders found so far.
    ///   - generation: The same function as for ``LibraryCopy/checked(for:as:)``.
    init(
        _ path: String, _ reference: PluginReference?, in folder: LoadFolder, _ names: inout ResourceFolder.Names,
        as generation: (String?) -> (plugin: String?, number: Int)
    ) throws(BackplaneError) {
        file = try LibraryFile.prepare(path, sha256: reference?.sha256, in: folder, as: generation)
        do throws(BackplaneError) {
            resources = try ResourceFolder.copy(besides: file, named: reference?.resources, &names)
        } catch {
            file.discard()
            throw error
        }
        self.reference = reference
    }
}
