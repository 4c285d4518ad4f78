import Foundation
import Testing

/// Libraries that a test compiles for itself.
extension Tool {
    static let package = URL(filePath: manifests + "/..").standardizedFileURL.path

    /// - Parameters:
    ///   - source: in C; it may include `plugin.h` of the hostile libraries.
    ///   - flags: of the compiler, besides.
    /// - Returns: its path.
    func library(_ name: String, of source: String, _ flags: String...) throws -> String {
        try library(
            name, by: "clang",
            ["-I", Self.package + "/Tests/Plugins/Hostile/Corpus", try write(source, as: "\(name).c")] + flags)
    }

    /// - Parameter compiler: `clang` or `clang++`.
    func library(
        _ name: String, by compiler: String, headers: String = Tool.package + "/Sources/CBackplane/include",
        _ arguments: [String]
    ) throws -> String {
        let path = "\(folder)/lib\(name).so", process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [compiler, "-shared", "-fPIC", "-O1", "-pthread", "-fvisibility=hidden", "-I", headers, "-o", path]
            + arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }
}
