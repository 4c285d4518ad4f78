import Backplane
import Foundation
import Glibc

/// A library whose file is replaced repeatedlyin the way of a linker that writes a new file and renames it.
package struct RebuiltLibrary: Sendable {
    /// The path of the library.
    package let path: String
    /// The paths of its editions, in the same folder so that each can be hard-linked to the library's path.
    private let editions: [String]

    /// Creates the library as its first edition.
    ///
    /// - Parameter libraries: The paths of the editions.
    package init(of libraries: [String], in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/libTurnstile.so"
        editions = try libraries.enumerated().map { index, library in
            let copy = "\(folder)/edition-\(index + 1)"
            try FileManager.default.copyItem(atPath: library, toPath: copy)
            return copy
        }
        try build(1)
    }

    package func build(_ edition: Int) throws {
        let new = path + ".new"
        unlink(new)  // renaming it to its own name would keep it
        guard link(editions[edition - 1], new) == 0, rename(new, path) == 0 else {
            throw BackplaneError(
                .componentFailed, "the file cannot be written: \(String(cString: strerror(errno)))", at: path)
        }
    }
}
