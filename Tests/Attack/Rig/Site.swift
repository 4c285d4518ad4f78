import Foundation
import Glibc

/// The reason why an attack cannot be made here.
struct NotPossible: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The folder in which an attack takes place, which goes with it.
final class Site: Sendable {
    let path: String
    /// Whether it stays, for who wants to look at what was made.
    private let isKept: Bool

    init(isKept: Bool) throws {
        self.isKept = isKept
        var template = Array((NSTemporaryDirectory() + "/attack-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw NotPossible("there is no temporary folder: \(String(cString: strerror(errno)))")
        }
        path =
            URL(filePath: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
            .resolvingSymlinksInPath().path
    }

    deinit { remove(path) }

    /// Removes what a trial has made, unless it is kept.
    func remove(_ path: String) {
        if !isKept { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The top of the package.
    static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardizedFileURL.path

    /// Makes a folder and gives its path.
    func folder(_ name: String) throws -> String {
        let path = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }

    /// Writes a file and gives its path.
    @discardableResult
    func write(_ bytes: some Sequence<UInt8>, as name: String) throws -> String {
        let path = "\(path)/\(name)"
        guard
            FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o755])
        else { throw NotPossible("\(path) cannot be written") }
        return path
    }

    /// Writes the manifest of a host with the number store, and returns its path.
    func numberStore() throws -> String {
        let manifest = """
            {"manifestVersion": 1, "plugins": [{"library": "FixturesInC"}],
             "managers": {"NumberStore": {"className": "NumberStore", "dataAccessController": {"className": "Shelf"}}}}
            """
        return try write(manifest.utf8, as: "number-store.json")
    }
}
