import Foundation

/// The protocol conformances that a library carries, as the toolchain's `llvm-nm` and `swift-demangle` see them.
///
/// After each library that is loaded Swift's runtime looks through those of all generations.
package enum PluginConformances {
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }
    /// The greatest numbers by module, to be lowered when there are fewer.
    ///
    /// What only a host needs conforms there; keys of JSON that are written by hand are `TextKey`s.
    package static let bounds = [
        "Backplane": 81, "BackplaneManagers": 6, "BackplaneNetwork": 100, "BackplaneStorage": 33,
    ]
    /// The folder of the toolchain's programs that are needed; `nil` where they are missing.
    package static let tools: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map {
            URL(filePath: "\($0)/swiftc").resolvingSymlinksInPath().deletingLastPathComponent().path
        }
        return folders.first { folder in
            ["llvm-nm", "swift-demangle"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)")
            }
        }
    }()

    /// Returns the lists of a library's conformances that are longer than their bounds.
    ///
    /// - Throws: ``Failed`` if a program fails, or for a library without symbols or without the SDK.
    package static func excesses(of library: String) throws -> [String] {
        let all = try list(of: library)
        guard all.contains(where: { $0.hasSuffix(" in Backplane") }) else {
            throw Failed(description: "no conformance of the SDK was found in \(library)")
        }
        return bounds.sorted { $0.key < $1.key }.compactMap { module, bound in
            let found = all.filter { $0.hasSuffix(" in \(module)") }.sorted()
            return found.count <= bound
                ? nil : "\(module) has \(found.count), at most \(bound):\n\(found.joined(separator: "\n"))"
        }
    }

    /// Returns the conformances of a library that was not stripped, in words such as
    /// `Backplane.Version : Swift.Comparable in Backplane`.
    private static func list(of library: String) throws -> [String] {
        guard let tools else { throw Failed(description: "there is no `llvm-nm` beside `swiftc`") }
        let start = "protocol conformance descriptor for "
        let symbols = try run("\(tools)/llvm-nm", ["--format=just-symbols", "--defined-only", library])
            .split(separator: "\n").filter { $0.hasSuffix("Mc") }
        let words = try run("\(tools)/swift-demangle", ["--compact"] + symbols.map(String.init)).split(separator: "\n")
        return words.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, pipe)
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(description: "\(program) ended with \(process.terminationStatus)")
        }
        return output
    }
}
