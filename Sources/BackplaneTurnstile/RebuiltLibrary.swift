import Backplane
import Foundation
import Glibc

/// A library whose file is replaced again and again, as a linker replaces it that writes a new file and renames it.
package struct RebuiltLibrary: Sendable {
    /// Where it is built.
    package let path: String
    /// What it is built from, in the same folder so that a file can be linked to its place.
    private let editions: [String]

    /// Edition 1 is built.
    ///
    /// - Parameter libraries: the editions.
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
        unlink(new)                             // renamed to what it is already, it would stay
        guard link(editions[edition - 1], new) == 0, rename(new, path) == 0 else {
            throw BackplaneError(.componentFailed, "cannot be put there: \(String(cString: strerror(errno)))", at: path)
        }
    }
}
