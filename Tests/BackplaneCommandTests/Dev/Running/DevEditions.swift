import Foundation
import Testing

/// An application of libraries in C that `backplane dev` only watches, in a folder of its own.
///
/// Editions are written beside it, and come to lie there in the ways in which linkers, scripts and people put files.
struct DevEditions {
    let tool: Tool
    let folder: String
    private let built: String
    var manifest: String { folder + "/app.json" }

    /// - Parameter names: of the libraries that there are in edition 1, with a manager each.
    init(_ names: String..., with tool: Tool) throws {
        self.tool = tool
        (folder, built) = (tool.folder + "/app", tool.folder + "/built")
        for path in [folder, built] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        for name in names { try rename(1, name) }
    }

    func library(_ name: String) -> String { folder + "/lib\(name).so" }

    /// Writes an edition where nobody looks.
    func write(_ edition: Int, _ name: String = "Edition") throws -> String {
        try EditionLibrary.write(edition, of: name, to: built, as: "lib\(name)\(edition).so")
    }

    /// A whole file takes the place of another, as lld does it.
    func rename(_ edition: Int, _ name: String = "Edition", to library: String? = nil) throws {
        let built = try write(edition, name)
        try replace(library ?? self.library(name), with: Data(contentsOf: URL(filePath: built)))
    }

    func replace(_ path: String, with contents: Data) throws {
        let temporary = path + ".tmp-5a5a"
        try contents.write(to: URL(filePath: temporary))
        try #require(Glibc.rename(temporary, path) == 0)
    }

    /// Opens a library and empties it, as a copying program does; what is written comes in pieces.
    func overwrite(_ name: String) throws -> FileHandle {
        let file = open(library(name), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0o644)
        try #require(file >= 0)
        return FileHandle(fileDescriptor: file, closeOnDealloc: true)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: library(name)) }

    /// As an editor saves: beside it, and then in its place.
    func save(_ text: String) throws { try replace(manifest, with: Data(text.utf8)) }
}
