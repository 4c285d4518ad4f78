import Foundation
import TestFixtures
import Testing

/// A folder where things are made anew each time, and one build folder for all of them, which is found again: only its first build takes its time.
struct Workplace {
    let folder = Tool.built + "/NewPackages"
    private var scratch: String { folder + "/.build" }
    /// Where programs and libraries are, once they are built.
    var built: String { scratch + "/debug" }

    init() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for made in try files.contentsOfDirectory(atPath: folder) where made != ".build" && made != "headers" {
            try files.removeItem(atPath: folder + "/" + made)
        }
        try makeCheckout()
        try forgetStaleBuild()
    }

    /// This package, whose files are the real ones, in folders that something can be put into.
    private func makeCheckout() throws {
        let files = FileManager.default, checkout = folder + "/backplane"
        for part in ["Plugins", "Tests", "manifests"] {
            try files.createDirectory(atPath: "\(checkout)/\(part)", withIntermediateDirectories: true)
            for name in try files.contentsOfDirectory(atPath: Page.root.appending(path: part).path) where part != "manifests" {
                try files.createSymbolicLink(atPath: "\(checkout)/\(part)/\(name)", withDestinationPath: Page.root.appending(path: "\(part)/\(name)").path)
            }
        }
        try files.createSymbolicLink(atPath: checkout + "/Sources", withDestinationPath: Page.root.appending(path: "Sources").path)
        try files.copyItem(at: Page.root.appending(path: "Package.swift"), to: URL(filePath: checkout + "/Package.swift"))
    }

    /// What fetched something has failed its test; and SwiftPM does not compile Swift anew when a C header has changed.
    private func forgetStaleBuild() throws {
        let files = FileManager.default, headers = Page.root.appending(path: "Sources/CBackplane/include"), kept = folder + "/headers"
        guard !fetched().isEmpty || !files.contentsEqual(atPath: headers.path, andPath: kept) else { return }
        for stale in [scratch, kept] where files.fileExists(atPath: stale) { try files.removeItem(atPath: stale) }
        try files.copyItem(at: headers, to: URL(filePath: kept))
    }

    /// Enters `backplane new` in a folder, and pastes what it prints.
    func new(_ arguments: String..., in place: String) async throws {
        let backplane = place.isEmpty ? ["--backplane", folder + "/backplane"] : []
        let outcome = try await RunningTool(["new"] + arguments + backplane, input: nil, in: folder + "/" + place).end()
        try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        try Pasting(outcome.output).paste(in: folder + "/" + place)
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Enters a command of SwiftPM in a folder, and lets nothing be fetched: without git's protocols, through a proxy that nobody serves, from no cache.
    ///
    /// - Returns: what it said.
    /// - Throws: ``Failed`` where it fails, and where the compiler warns of anything.
    func swift(_ arguments: String..., in place: String) async throws -> String {
        let nobody = "http://127.0.0.1:9"
        let swift = try RunningTool(
            ["swift"] + arguments + ["-j", "2", "--disable-dependency-cache", "--scratch-path", scratch], of: "/usr/bin/env", input: nil,
            environment: ["GIT_ALLOW_PROTOCOL": "none", "http_proxy": nobody, "https_proxy": nobody, "all_proxy": nobody], in: folder + "/" + place)
        let outcome = await swift.end()
        try Task.checkCancellation()
        let said = outcome.output + outcome.errors
        guard outcome.status == 0, !said.contains(/\.swift:\d+:\d+: warning:/) else {
            throw Failed(description: "swift \(arguments.joined(separator: " ")) in \(place) ends with status \(outcome.status), or with warnings:\n\(said)")
        }
        return said
    }

    /// Whatever SwiftPM keeps of other packages: what was fetched, and versions that were chosen.
    func fetched() -> [String] {
        let kept = ["checkouts", "repositories", "artifacts"].flatMap { (try? FileManager.default.contentsOfDirectory(atPath: "\(scratch)/\($0)")) ?? [] }
        return kept + ["Tides", "Harbour", "backplane"].filter { FileManager.default.fileExists(atPath: "\(folder)/\($0)/Package.resolved") }
    }
}
