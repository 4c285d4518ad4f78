import Backplane
import BackplaneControl
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneTools

/// Packages that are worked on while `backplane dev` builds and runs them.
@Suite(.nightly, .timeLimit(.minutes(30)))
struct DevPackageTests {
    private let tool: Tool
    private let workspace: Workspace
    private let dev: DevRun

    init() throws {
        tool = try Tool()
        workspace = try Workspace()
        dev = try DevRun(
            workspace.manifest, "--package", workspace.annex, "--scratch-path", workspace.scratchPath, with: tool)
    }

    /// What is to come of a save, until its build is over and its library active.
    @discardableResult
    private func built(_ products: String...) async throws -> [DevEvent.Swap] {
        var swaps: [DevEvent.Swap] = [], left = Set(products)
        let libraries = Set(products.map { "lib\($0).so" })
        var active: Set<String> = []
        while !left.isEmpty || active != libraries {
            let event = try await dev.next(anyOf: ["buildStarted", "buildEnded", "swapped"], besides: ["output"])
            switch event.name {
            case "buildEnded":
                let result = try event.payload(DevEvent.BuildResult.self)
                #expect(result.outcome == .succeeded, "\(event)")
                left.remove(result.product)
            case "swapped":
                let swap = try event.payload(DevEvent.Swap.self)
                swaps.append(swap)
                active.formUnion(swap.report.plugins.map { URL(filePath: $0.library).lastPathComponent })
            default: break
            }
        }
        return swaps
    }

    /// Saves several files, which are seen together, however long that takes on a busy machine.
    private func atOnce(_ save: () async throws -> Void) async throws {
        dev.process.signal(SIGSTOP)
        defer { dev.process.signal(SIGCONT) }
        try await save()
    }

    private func expectAnswer(_ answer: String, _ location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await dev.call("GreetingCaller", "ask", #""Ann""#) == "\"\(answer)\"", sourceLocation: location)
    }

    /// One story, since every build takes its time.
    @Test func `saved code is built and becomes active, code that does not build changes nothing, and no call is lost`()
        async throws
    {
        let beginning = try await dev.next("started", DevEvent.Beginning.self)
        #expect(beginning.packages.map(\.path) == [workspace.folder, workspace.annex])
        #expect(beginning.packages.map(\.products) == [["GreetingProvider", "GreetingCaller"], ["Annex"]])
        let application = try await dev.up(besides: ["output", "buildStarted", "buildEnded"])
        #expect(application.managers.map(\.state) == ["ready", "ready", "ready"], "\(application)")
        try await expectAnswer("Hello, Ann! How are you?")
        let caller = BusyCaller(application.control, "GreetingProvider", "linger")

        try await saveOne()
        try await saveMistake()
        try await saveDuringBuild()
        try await moveFolder()
        try await touch()
        try await saveResource()
        try await changeContract()
        try await changePackage()

        try workspace.save("../annex/Sources/Annex/Annex.swift", Workspace.constant("Annex", "two"))
        try await built("Annex")
        #expect(try await dev.call("Annex", "read") == #""two""#)

        #expect(
            try await dev.call("GreetingProvider", "greeted") == "13", "every greeting was counted by the same state")
        let calls = caller.end()
        #expect(calls.answered > 0 && calls.failures == [])
        try await dev.stop()
    }

    private func saveOne() async throws {
        try workspace.save("Sources/GreetingProvider/GreetingProvider.swift", Workspace.provider("!!"))
        let build = try await dev.next("buildStarted", DevEvent.Build.self)
        #expect(
            build.product == "GreetingProvider"
                && build.because == [workspace.path("Sources/GreetingProvider/GreetingProvider.swift")])
        let swap = try #require(try await built("GreetingProvider").first)
        #expect(swap.report.plugins.map(\.plugin) == ["org.example.greetingprovider"])
        #expect(swap.builtIn.count == 1 && swap.builtIn.values.allSatisfy { $0.duration > .zero })
        try await expectAnswer("Hello, Ann!! How are you?")
    }

    private func saveMistake() async throws {
        let path = workspace.path("Sources/GreetingProvider/GreetingProvider.swift")
        try await atOnce {
            try workspace.saveByRenaming(
                "Sources/GreetingProvider/GreetingProvider.swift",
                Workspace.provider("!!!") + "let mistake: Int = true\n")
        }
        try await dev.next("buildStarted")
        let finding = try await dev.next("diagnostic", DevEvent.Finding.self)
        let line = Workspace.provider("!!!").split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(
            finding.product == "GreetingProvider" && finding.diagnostic.severity == "error"
                && finding.diagnostic.file == path)
        #expect((finding.diagnostic.line, finding.diagnostic.column) == (line, 20))
        let failure = try await dev.next("buildEnded", DevEvent.BuildResult.self, besides: ["output", "diagnostic"])
        #expect(failure.outcome == .failed)
        #expect(failure.text.contains("\(path):\(line):20: error: \(finding.diagnostic.message)"), "\(failure.text)")
        #expect(
            failure.text.contains { $0.contains("let mistake: Int = true") }, "with the line, as the compiler shows it")
        try await expectAnswer("Hello, Ann!! How are you?")

        try await atOnce {
            try workspace.saveByRenaming("Sources/GreetingProvider/GreetingProvider.swift", Workspace.provider("!!!"))
        }
        try await built("GreetingProvider")
        try await expectAnswer("Hello, Ann!!! How are you?")
    }

    private func saveDuringBuild() async throws {
        try workspace.save("Sources/GreetingProvider/GreetingProvider.swift", Workspace.provider(", at last."))
        try await dev.next("buildStarted")
        // In one step, since the compiler may be about to read it.
        try workspace.saveByRenaming("Sources/GreetingProvider/GreetingProvider.swift", Workspace.provider("."))
        #expect(try await dev.next("buildEnded", DevEvent.BuildResult.self).outcome == .cancelled)
        try await built("GreetingProvider")
        try await expectAnswer("Hello, Ann. How are you?")
    }

    /// Away, where nobody looks, and back with other contents.
    private func moveFolder() async throws {
        let folder = workspace.path("Sources/GreetingCaller"), elsewhere = workspace.path("../elsewhere")
        try? FileManager.default.removeItem(atPath: elsewhere)
        try FileManager.default.moveItem(atPath: folder, toPath: elsewhere)
        let failure = try await dev.next(
            "buildEnded", DevEvent.BuildResult.self, besides: ["output", "buildStarted", "diagnostic"])
        #expect(failure.product == "GreetingCaller" && failure.outcome == .failed)
        try await expectAnswer("Hello, Ann. How are you?")

        try workspace.save("../elsewhere/GreetingCaller.swift", Workspace.caller("Where was I?"))
        try FileManager.default.moveItem(atPath: elsewhere, toPath: folder)
        try await built("GreetingCaller")
        try await expectAnswer("Hello, Ann. Where was I?")
    }

    /// The next swap is of what was saved after it.
    private func touch() async throws {
        _ = try await RunningTool(
            ["touch", workspace.path("Sources/GreetingProvider/GreetingProvider.swift")], of: "/usr/bin/env", input: nil
        ).end()
        try workspace.save("Sources/GreetingCaller/GreetingCaller.swift", Workspace.caller("How do you do?"))
        let swaps = try await built("GreetingCaller")
        #expect(swaps.flatMap(\.report.plugins).map(\.plugin) == ["org.example.greetingcaller"])
        try await expectAnswer("Hello, Ann. How do you do?")
    }

    private func saveResource() async throws {
        try workspace.save("Sources/GreetingProvider/greeting.txt", "Good day")
        let swap = try #require(try await built("GreetingProvider").first)
        #expect(swap.report.plugins.map(\.plugin) == ["org.example.greetingprovider"])
        try await expectAnswer("Good day, Ann. How do you do?")
    }

    /// Both plugins, first by hand and then by a checkout.
    private func changeContract() async throws {
        try await workspace.git("init", "-q", "-b", "main")
        try await workspace.git("add", "-A")
        try await workspace.git("commit", "-q", "-m", "Greet in one piece")
        try await workspace.git("checkout", "-q", "-b", "words")
        try await atOnce {
            try workspace.save("Sources/WorkspaceContracts/Contracts.swift", Workspace.contracts(2))
            try workspace.save("Sources/GreetingProvider/GreetingProvider.swift", Workspace.provider("?", contract: 2))
            try workspace.save(
                "Sources/GreetingCaller/GreetingCaller.swift", Workspace.caller("Who are you?", contract: 2))
        }
        try await built("GreetingProvider", "GreetingCaller")
        try await expectAnswer("Good day, Ann? Who are you?")
        try await workspace.git("commit", "-q", "-a", "-m", "Greet in words")
        try await atOnce { try await workspace.git("checkout", "-q", "main") }
        try await built("GreetingProvider", "GreetingCaller")
        try await expectAnswer("Good day, Ann. How do you do?")
    }

    private func changePackage() async throws {
        try workspace.save("Package.swift", Workspace.package() + "oops(\n")
        let refusal = try await dev.next("refused", DevEvent.Refusal.self)
        #expect(refusal.subject == .package && refusal.error.location == workspace.folder + "/Package.swift")
        #expect(
            refusal.error.message == "SwiftPM cannot read the package `workbench`; fix it, and it is read again"
                && refusal.error.causes == [])
        #expect(refusal.problems.first?.contains(#/Package\.swift:\d+:\d+: error: /#) == true, "\(refusal)")
        #expect(
            refusal.problems.contains { $0.contains("| oops(") }
                && refusal.problems.contains { $0.contains(#/\|\s+`- error: /#) },
            "with the line, as the compiler shows it")
        try await expectAnswer("Good day, Ann. How do you do?")

        // Away, and back as it was.
        try FileManager.default.removeItem(atPath: workspace.path("Package.swift"))
        #expect(try await dev.next("refused", DevEvent.Refusal.self).subject == .package)
        try workspace.save("Package.swift", Workspace.package())
        for product in ["GreetingProvider", "GreetingCaller"] {
            let result = try await dev.next(
                "buildEnded", DevEvent.BuildResult.self, besides: ["output", "buildStarted", "unchanged"])
            #expect(result.product == product && result.outcome == .succeeded)
        }
        try await expectAnswer("Good day, Ann. How do you do?")

        try FileManager.default.createDirectory(
            atPath: workspace.path("Sources/Latecomer"), withIntermediateDirectories: true)
        try workspace.save("Sources/Latecomer/Latecomer.swift", Workspace.constant("Latecomer", "here"))
        try workspace.save(
            "Package.swift", Workspace.package(products: ["GreetingProvider", "GreetingCaller", "Latecomer"]))
        for product in ["GreetingProvider", "GreetingCaller"] {
            let result = try await dev.next(
                "buildEnded", DevEvent.BuildResult.self, besides: ["output", "buildStarted", "unchanged"])
            #expect(result.product == product && result.outcome == .succeeded)
        }
        try workspace.save("backplane.json", Workspace.manifest("Annex", "Latecomer"))
        let swap = try await dev.next(
            "swapped", DevEvent.Swap.self, besides: ["output", "buildStarted", "buildEnded", "unchanged"])
        let change = swap.report.managers
        #expect(change.started == ["Latecomer"], "the library and the manifest that names it come together")
        #expect(change.kept == ["GreetingProvider", "GreetingCaller", "Annex"])
        #expect(try await dev.call("Latecomer", "read") == #""here""#)
    }
}
