import Backplane
import BackplaneControl
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneTools

/// Manifests that are saved while `backplane dev` runs what they describe.
@Suite(.timeLimit(.minutes(3)))
struct DevManifestTests {
    private let tool: Tool
    private let editions: DevEditions

    init() throws {
        tool = try Tool()
        editions = try DevEditions("Edition", with: tool)
    }

    private func start() throws -> DevRun { try DevRun(editions.manifest, with: tool) }

    @Test func `a mistake is shown with its place, the active version is unchanged, and the fixed manifest is applied`()
        async throws
    {
        try editions.save(EditionLibrary.manifest)
        let dev = try start()
        try await dev.next("started")
        try await dev.up()
        #expect(try await dev.call("Edition", "count") == "1")

        // The second mistake has a consequence, which is counted.
        for (mistake, place, consequences) in [
            ("{\n  \"manifestVersion\": 1,\n  oops\n}", ":3:3: ", []),
            (
                #"{"manifestVersion": 1, "managers": {"Edition": {"dataAccessController": {"clasName": 1}}}}"#, ":1:",
                ["1 more error may follow from it"]
            ),
        ] as [(String, String, [String])] {
            try editions.save(mistake)
            let refusal = try await dev.refused()
            #expect(refusal.subject == .manifest)
            let mistakes = refusal.problems.dropLast(consequences.count)
            #expect(
                !mistakes.isEmpty && mistakes.allSatisfy { $0.hasPrefix(editions.manifest + place) }, "\(refusal)")
            #expect(refusal.problems.suffix(consequences.count) == consequences[...])
            #expect(try await dev.call("Edition", "edition") == "1")
        }

        try editions.rename(1, "Late")
        try editions.save(EditionLibrary.manifest("Edition", "Late"))
        let change = try await dev.next("applied", ChangeReport.self)
        #expect(
            change.managers.started == ["Late"] && change.managers.kept == ["Edition"]
                && change.managers.restarted.isEmpty
                && change.managers.stopped.isEmpty)
        #expect(try await dev.call("Late", "edition") == "1")
        #expect(try await dev.call("Edition", "count") == "2", "it is unaffected")

        try editions.rename(2, "Late")
        #expect(
            try await dev.swapped().plugins.map(\.plugin) == ["org.example.late"], "its library is watched from now on")

        try Data(EditionLibrary.manifest.utf8).write(to: URL(filePath: editions.manifest))
        #expect(
            try await dev.next("applied", ChangeReport.self).managers.stopped == ["Late"], "saved in place as well")
        #expect(try await dev.call("Edition", "count") == "3")
        try await dev.stop()
    }

    @Test func `a package is read again when its manifest for one version of Swift is saved`() async throws {
        try editions.save(EditionLibrary.manifest)
        func save(_ text: String, _ name: String) throws {
            try editions.replace(
                "\(editions.folder)/\(name)",
                with: Data("// swift-tools-version: 6.0\nimport PackageDescription\n\(text)\n".utf8))
        }
        try save(#"let package = Package(name: "app")"#, "Package.swift")
        let dev = try start()
        #expect(try await dev.next("started", DevEvent.Beginning.self).packages.map(\.path) == [editions.folder])
        try await dev.up()
        try save("let package = 1 +", "Package@swift-6.swift")
        #expect(try await dev.refused().subject == .package)
        try await dev.stop()
    }
}
