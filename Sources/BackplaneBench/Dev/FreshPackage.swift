import Backplane
import Foundation

/// A plugin in a package of its own, from nothing to its first answer.
struct FreshPackage: Sendable {
    let path: String
    private static let name = "Probe"
    var manifest: String { path + "/backplane.json" }
    /// A folder that belongs to the plugin and that SwiftPM passes over.
    var data: String { path + "/Sources/ProbeModule/data" }

    /// - Parameter folder: where it is to be; made where it is missing.
    init(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = "\(folder)/\(Self.name)"
    }

    func write() async throws -> Duration {
        try await TimedProgram.time(nil, ["new", "package", path])
    }

    func build() async throws -> Duration {
        try await TimedProgram.time("swift", ["build", "--package-path", path])
    }

    /// Makes it run, asks it something, and ends it.
    func call() async throws -> Duration {
        let folders = ["--plugin-path", path + "/.build/debug", "--load-folder", path + "/.build/load", "--data", path + "/.build/data"]
        return try await TimedProgram.time(nil, ["call", manifest, "ProbeManager", "greet", "\"Ada\""] + folders)
    }

    /// Puts so many files among its sources, ten to a folder.
    func fill(_ count: Int) throws {
        let description = path + "/Package.swift", text = try String(contentsOfFile: description, encoding: .utf8)
        let target = "name: \"ProbeModule\", dependencies: [.product(name: \"Backplane\", package: \"backplane\")]"
        guard text.contains(target) else { throw BackplaneError(.componentFailed, "the package has no target `\(target)`", at: description) }
        try text.replacing(target, with: target + ", exclude: [\"data\"]").write(toFile: description, atomically: true, encoding: .utf8)
        for folder in 0..<(count / 10) {
            let path = "\(data)/\(folder)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for file in 0..<10 { try Data("\(file)".utf8).write(to: URL(filePath: "\(path)/\(file).txt")) }
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
