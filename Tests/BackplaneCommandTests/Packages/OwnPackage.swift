import Foundation
import TestFixtures
import Testing

/// The package of docs/boundary-in-swift.md, with plugins that depend on this one by path.
struct OwnPackage {
    static let page = "docs/boundary-in-swift.md"
    let packages: PackagesFolder
    private let reader: Reader
    private var package: String { packages.path + "/harbour" }
    var manifest: String { package + "/backplane.json" }
    /// Where its libraries are, once they are built.
    var libraries: String { packages.built }

    /// Writes what the page shows.
    init(with tool: Tool) throws {
        packages = try PackagesFolder()
        reader = Reader(in: packages, with: tool)
        for block in try Page(Self.page).blocks where block.file != nil { try reader.write(block) }
    }

    struct DoesNotBuild: Error, CustomStringConvertible {
        let description: String
    }

    /// Builds it as the page says, and lets nothing be fetched.
    ///
    /// - Throws: ``DoesNotBuild`` with what the compiler said.
    func build() async throws {
        let line = try #require(try Page(Self.page).blocks.first { $0.kind == "build" }).text
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        let swift = try RunningTool(
            words + ["-j", "2", "--disable-dependency-cache"], of: "/usr/bin/env", input: nil,
            environment: packages.environmentWithoutNetwork, in: packages.path)
        let outcome = await swift.end()
        try Task.checkCancellation()
        let said = outcome.output + outcome.errors
        guard outcome.status == 0, !said.contains(/\.swift:\d+:\d+: warning:/) else {
            throw DoesNotBuild(
                description:
                    "the package in \(package) does not build without errors and warnings, status \(outcome.status):\n\(said)"
            )
        }
    }

    /// Does what the page has a reader do once all is built.
    func followPage() throws -> Int {
        try reader.follow(Page(Self.page).blocks.filter { ["run", "fails", "output"].contains($0.kind) }).outputs
    }
}
