import Foundation
import TestFixtures
import Testing

/// The package of docs/boundary-in-swift.md, with plugins that depend on this one by path.
///
/// It lies beside the tests, where it is found again: only the first build of it takes its time.
struct OwnPackage {
    static let page = "docs/boundary-in-swift.md"
    /// Where there is a checkout of this package for others beside it, too.
    let folder = Tool.built + "/OwnPackage"
    private let reader: Reader
    private var package: String { folder + "/harbour" }
    var manifest: String { package + "/backplane.json" }
    /// What was built of this package for it serves others beside it, too.
    var scratchPath: String { package + "/.build" }
    /// Where its libraries are, once they are built.
    var libraries: String { package + "/.build/debug" }

    /// Writes what the page shows, and nothing else is in its sources.
    init(with tool: Tool) throws {
        reader = try Reader(in: folder, with: tool)
        let files = try Page(Self.page).blocks.filter { $0.file != nil }
        for block in files { try reader.write(block) }
        let shown = Set(files.compactMap(\.file))
        for path in try FileManager.default.subpathsOfDirectory(atPath: package + "/Sources") where path.hasSuffix(".swift") {
            if !shown.contains("harbour/Sources/" + path) { try FileManager.default.removeItem(atPath: package + "/Sources/" + path) }
        }
        try forgetStaleBuild()
    }

    /// One that fetched something has failed its test; and SwiftPM does not compile Swift anew when a C header has changed.
    private func forgetStaleBuild() throws {
        let headers = Page.root.appending(path: "Sources/CBackplane/include"), kept = URL(filePath: folder + "/headers")
        guard !fetched().isEmpty || !FileManager.default.contentsEqual(atPath: headers.path, andPath: kept.path) else { return }
        for stale in [package + "/.build", package + "/Package.resolved", kept.path] where FileManager.default.fileExists(atPath: stale) {
            try FileManager.default.removeItem(atPath: stale)
        }
        try FileManager.default.copyItem(at: headers, to: kept)
    }

    struct DoesNotBuild: Error, CustomStringConvertible {
        let description: String
    }

    /// Builds it as the page says, and lets nothing be fetched: without git's protocols, through a proxy that nobody serves, from no cache;
    /// and by a plan of its own, since others may have been built in its folder.
    ///
    /// - Throws: ``DoesNotBuild`` with what the compiler said.
    func build() async throws {
        let line = try #require(try Page(Self.page).blocks.first { $0.kind == "build" }).text
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        let swift = try RunningTool(
            words + ["-j", "2", "--disable-dependency-cache", "--disable-build-manifest-caching"], of: "/usr/bin/env", input: nil,
            environment: ["GIT_ALLOW_PROTOCOL": "none", "http_proxy": Self.nobody, "https_proxy": Self.nobody, "all_proxy": Self.nobody], in: folder)
        let outcome = await swift.end()
        try Task.checkCancellation()
        let said = outcome.output + outcome.errors
        guard outcome.status == 0, !said.contains(/\.swift:\d+:\d+: warning:/) else {
            throw DoesNotBuild(description: "the package in \(package) does not build without errors and warnings, status \(outcome.status):\n\(said)")
        }
    }

    private static let nobody = "http://127.0.0.1:9"

    /// Whatever SwiftPM keeps of other packages: versions that were chosen, and what was fetched.
    func fetched() -> [String] {
        let kept = ["checkouts", "repositories", "artifacts"].flatMap { name in
            (try? FileManager.default.contentsOfDirectory(atPath: "\(package)/.build/\(name)")) ?? []
        }
        return kept + ["Package.resolved"].filter { FileManager.default.fileExists(atPath: "\(package)/\($0)") }
    }

    /// Does what the page has a reader do once all is built.
    func followPage() throws -> Int {
        try reader.follow(Page(Self.page).blocks.filter { ["run", "fails", "output"].contains($0.kind) }).outputs
    }
}
