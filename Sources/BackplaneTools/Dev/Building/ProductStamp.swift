import BackplaneHost
import Foundation
import Glibc

/// The file system's metadata for the files of a built plugin.
///
/// Equal stamps mean that no file has been written in between.
struct ProductStamp: Sendable, Hashable {
    /// The metadata of the library, or `nil` if it does not exist.
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

    /// A stamp for a product that has not been inspected.
    static let unknown = ProductStamp()

    private init() { (library, resources) = (nil, [:]) }

    /// Returns whether a process has the file open for writing; closing it triggers another event.
    static func isBeingWritten(_ path: String) -> Bool {
        (try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK))?.isOpenForWriting == true
    }

    /// The time of the library's last modification, in seconds since 1970.
    var written: Double? {
        library.map { Double($0.modified.seconds) + Double($0.modified.nanoseconds) / 1e9 }
    }
}
