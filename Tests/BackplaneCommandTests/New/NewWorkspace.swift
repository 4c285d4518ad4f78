import Foundation
import Testing

/// A folder in which `backplane new` creates packages.
struct NewWorkspace {
    private let packages: PackagesFolder
    var folder: String { packages.path }
    /// Where programs and libraries are, once they are built.
    var built: String { packages.built }

    init() throws { packages = try PackagesFolder() }

    /// Enters `backplane new` in a folder, which leaves nothing to paste.
    func new(_ arguments: String..., in place: String) async throws {
        let backplane = place.isEmpty ? ["--backplane", packages.checkout] : []
        let outcome = try await RunningTool(["new"] + arguments + backplane, input: nil, in: folder + "/" + place).end()
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        try #require(!outcome.output.contains("paste into"), "\(outcome.output)")
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Enters a command of SwiftPM in a folder, and lets nothing be fetched.
    ///
    /// - Returns: what it said.
    /// - Throws: ``Failed`` where it fails, and where the compiler warns of anything.
    func swift(_ arguments: String..., in place: String) async throws -> String {
        let swift = try RunningTool(
            ["swift"] + arguments + ["-j", "2", "--disable-dependency-cache"], of: "/usr/bin/env", input: nil,
            environment: packages.environmentWithoutNetwork,
            in: folder + "/" + place)
        let outcome = await swift.end()
        try Task.checkCancellation()
        let said = outcome.output + outcome.errors
        guard outcome.status == 0, !said.contains(/\.swift:\d+:\d+: warning:/) else {
            throw Failed(
                description:
                    "swift \(arguments.joined(separator: " ")) in \(place) ends with status \(outcome.status), or with warnings:\n\(said)"
            )
        }
        return said
    }

    func fetched() -> [String] { packages.fetched() }
}
