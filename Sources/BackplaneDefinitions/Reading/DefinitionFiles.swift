package import Backplane
import FoundationEssentials

/// The contents of the files from which a web service is created.
package struct DefinitionFiles: Sendable {
    let definition: Data
    /// The path of the definition; `nil` for data.
    package let path: String?
    /// The header fields shared in the folder; `nil` if there is no such file.
    let sharedHeaders: Data?
    let sharedPath: String?

    /// Reads the definition of a web service, and the shared header fields next to it.
    ///
    /// - Throws: `definition.unreadable`.
    package init(_ source: WebService.Source, named name: String) throws(BackplaneError) {
        let path: String
        switch source {
        case .data(let data):
            (definition, self.path, sharedHeaders, sharedPath) = (data, nil, nil, nil)
            return
        case .folder(let folder): path = try DefinitionFile.path(of: name, in: folder)
        case .file(let file): path = file
        case .url(let url):
            guard url.isFileURL else {
                throw BackplaneError(
                    .definitionUnreadable,
                    "a definition is read from a file, but this is another kind of URL; use a `file:` URL")
            }
            let place = url.path
            path = DefinitionFile.isFolder(place) == true ? try DefinitionFile.path(of: name, in: place) : place
        }
        definition = try DefinitionFile.read(path)
        self.path = path
        let folder =
            path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<path.utf8.index(after: $0)]) } ?? ""
        let shared = folder + DefinitionFile.sharedHeaders
        let isThere = DefinitionFile.isFolder(shared) != nil
        sharedHeaders = isThere ? try DefinitionFile.read(shared) : nil
        sharedPath = isThere ? shared : nil
    }

    /// Returns whether the files have the same paths and contents as other files.
    package func isSame(as other: DefinitionFiles) -> Bool {
        (path, sharedPath) == (other.path, other.sharedPath) && definition == other.definition
            && sharedHeaders == other.sharedHeaders
    }
}
