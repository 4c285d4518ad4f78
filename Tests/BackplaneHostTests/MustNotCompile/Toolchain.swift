import Foundation

@testable import BackplaneHost

/// The toolchain whose runtime this process has loaded, or the one in the PATH.
struct Toolchain {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The folder `usr`, all links followed.
    let folder: String
    var compiler: String { folder + "/bin/swiftc" }

    /// - Throws: ``Missing`` where there is none.
    init() throws {
        let runtime = (LoadedObjects.paths ?? []).first { $0.hasSuffix("/lib/swift/linux/libswiftCore.so") }
        let beside = runtime.map { FilePath.absolute($0 + "/../../../../bin/swiftc") }
        let inPath = (ProcessEnvironment.value("PATH") ?? "").split(separator: ":").map { "\($0)/swiftc" }
        let places = (beside.map { [$0] } ?? []) + inPath
        guard let found = places.first(where: FileManager.default.isExecutableFile) else {
            throw Missing(
                description:
                    "no `swiftc` in \(places.joined(separator: ", ")); put the toolchain's folder `usr/bin` into PATH")
        }
        folder =
            URL(filePath: found).resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent().path
    }

    /// Runs the compiler, and returns what it says.
    func compile(_ arguments: [String]) throws -> (isTaken: Bool, output: String) {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: compiler)
        process.arguments = arguments
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, pipe, pipe)
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, output)
    }
}
