import Foundation
import Testing

@testable import BackplaneHost

/// How many protocol conformances the SDK brings into a plugin: after each library that is loaded Swift's runtime looks
/// through those of all generations.
@Suite(.timeLimit(.minutes(2)))
struct PluginConformanceTests {
    /// To be lowered when there are fewer. What only a host needs conforms there; keys of JSON that are written by hand
    /// are `TextKey`s.
    private static let bound = 80

    private static let tools = (try? Toolchain()).map {
        (symbols: $0.folder + "/bin/llvm-nm", demangler: $0.folder + "/bin/swift-demangle")
    }
    private static var areThere: Bool {
        tools.map { [$0.symbols, $0.demangler].allSatisfy(FileManager.default.isExecutableFile) } ?? false
    }

    @Test(
        .enabled(if: areThere, "the toolchain has no `llvm-nm` and `swift-demangle`, so nothing is counted"),
        arguments: ["Almanac", "Bookshelf", "_BusyLoop", "_YardstickFirst"])
    func `a plugin carries no more conformances of the SDK than are recorded`(name: String) throws {
        let conformances = try Self.conformances(of: "\(TestHost.libraries)/lib\(name).so").filter {
            $0.hasSuffix(" in Backplane")
        }
        #expect(
            (1...Self.bound).contains(conformances.count),
            "\(conformances.count):\n\(conformances.sorted().joined(separator: "\n"))")
    }

    /// The conformances of a library that was not stripped, in words: `Backplane.Version : Swift.Comparable in
    /// Backplane`.
    private static func conformances(of library: String) throws -> [String] {
        let tools = try #require(tools), start = "protocol conformance descriptor for "
        let symbols = try run(tools.symbols, "--format=just-symbols", "--defined-only", library).split(separator: "\n")
            .filter { $0.hasSuffix("Mc") }
        let words = try run(tools.demangler, ["--compact"] + symbols.map(String.init)).split(separator: "\n")
        return words.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }

    private static func run(_ program: String, _ arguments: String...) throws -> String { try run(program, arguments) }

    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, pipe)
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) ended with \(process.terminationStatus)")
        return output
    }
}
