import BackplaneHost
import Foundation
import Glibc

/// What the system knows of the files of a built plugin without reading them: equal ones mean that nobody has written to them in between.
struct ProductStamp: Sendable, Hashable {
    /// `nil`: there is none.
    let library: FileStatus?
    private let resources: [String: FileStatus]

    init(library path: String, resources folders: [String] = []) {
        library = try? FileStatus(at: path)
        var files: [String: FileStatus] = [:]
        for folder in folders {
            for name in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
                let path = FilePath.join(folder, name)
                if let status = try? FileStatus(at: path), status.kind != .folder { files[path] = status }
            }
        }
        resources = files
    }

    /// Of one that was never looked at.
    static let unknown = ProductStamp()

    private init() { (library, resources) = (nil, [:]) }

    /// Whoever writes it will close it, and that is told.
    static func isBeingWritten(_ path: String) -> Bool {
        (try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK))?.isOpenForWriting == true
    }

    /// When the library was written, in seconds since 1970.
    var written: Double? {
        library.map { Double($0.modified.seconds) + Double($0.modified.nanoseconds) / 1e9 }
    }
}
