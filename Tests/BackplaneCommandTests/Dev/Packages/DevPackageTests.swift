import Backplane
import BackplaneControl
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneDev
@testable import BackplaneTerminal

/// Packages that are worked on while `backplane dev` builds and runs them.
@Suite(.timeLimit(.minutes(15)))
struct DevPackageTests {
    private let tool: Tool
    private let workbench: Workbench
    private let dev: DevRun

    init() throws {
        tool = try Tool()
        workbench = try Workbench()
        dev = try DevRun(
            workbench.manifest, "--package", workbench.annex, "--scratch-path", workbench.scratchPath, with: tool)
    }

    /// What is to come of a save, until its build is over and its library in force.
    @discardableResult
    private func built(_ products: String...) async throws -> [DevEvent.Swap] {
        var swaps: [DevEvent.Swap] = [], left = Set(products)
        let libraries = Set(products.map { "lib\($0).so" })
        var inForce: Set<String> = []
        while !left.isEmpty || inForce != libraries {
            let event = try await dev.next(anyOf: ["buildStarted", "buildEnded", "swapped"], besides: ["output"])
            switch event.name {
            case "buildEnded":
                let result = try event.payload(DevEvent.BuildResult.self)
                #expect(result.outcome == .succeeded, "\(event)")
                left.remove(result.product)
            case "swapped":
                let swap = try event.payload(DevEvent.Swap.self)
                swaps.append(swap)
                inForce.formUnion(swap.report.plugins.map { URL(filePath: $0.library).lastPathComponent })
            default: break
            }
        }
        return swaps
    }

    private func expectAnswer(_ answer: String, _ location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await dev.call("Asker", "ask", #""Ann""#) == "\"\(answer)\"", sourceLocation: location)
    }

    /// One story, since every build takes its time.
    @Test func `what is saved is built and in force, what does not build changes nothing, and no call is lost`()
        async throws
    {
        let beginning = try await dev.next("started", DevEvent.Beginning.self)
        #expect(beginning.packages.map(\.path) == [workbench.folder, workbench.annex])
        #expect(beginning.packages.map(\.products) == [["Speaker", "Asker"], ["Annex"]])
        let application = try await dev.up(besides: ["output", "buildStarted", "buildEnded"])
        #expect(application.managers.map(\.state) == ["ready", "ready", "ready"], "\(application)")
        try await expectAnswer("Hello, Ann! How are you?")
        let caller = BusyCaller(application.control, "Speaker", "linger")

        try await saveOne()
        try await saveMistake()
        try await saveDuringBuild()
        try await moveFolder()
        try await touch()
        try await saveResource()
        try await changeContract()
        try await changePackage()

        try workbench.save("../annex/Sources/Annex/Annex.swift", Workbench.signpost("Annex", "two"))
        try await built("Annex")
        #expect(try await dev.call("Annex", "read") == #""two""#)

        #expect(try await dev.call("Speaker", "greeted") == "13", "every greeting was counted by the same state")
        let calls = caller.end()
        #expect(calls.answered > 0 && calls.failures == [])
        try await dev.stop()
    }

    private func saveOne() async throws {
        try workbench.save("Sources/Speaker/Speaker.swift", Workbench.speaker("!!"))
        let build = try await dev.next("buildStarted", DevEvent.Build.self)
        #expect(build.product == "Speaker" && build.because == [workbench.path("Sources/Speaker/Speaker.swift")])
        let swap = try #require(try await built("Speaker").first)
        #expect(swap.report.plugins.map(\.plugin) == ["org.example.speaker"])
        #expect(swap.builtIn.count == 1 && swap.builtIn.values.allSatisfy { $0 > 0 })
        try await expectAnswer("Hello, Ann!! How are you?")
    }

    private func saveMistake() async throws {
        let path = workbench.path("Sources/Speaker/Speaker.swift")
        try workbench.saveByRenaming(
            "Sources/Speaker/Speaker.swift", Workbench.speaker("!!!") + "let mistake: Int = true\n")
        try await dev.next("buildStarted")
        let finding = try await dev.next("diagnostic", DevEvent.Finding.self)
        let line = Workbench.speaker("!!!").split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(
            finding.product == "Speaker" && finding.diagnostic.severity == "error" && finding.diagnostic.file == path)
        #expect((finding.diagnostic.line, finding.diagnostic.column) == (line, 20))
        let failure = try await dev.next("buildEnded", DevEvent.BuildResult.self, besides: ["output", "diagnostic"])
        #expect(failure.outcome == .failed)
        #expect(failure.text.contains("\(path):\(line):20: error: \(finding.diagnostic.message)"), "\(failure.text)")
        #expect(
            failure.text.contains { $0.contains("let mistake: Int = true") }, "with the line, as the compiler shows it")
        try await expectAnswer("Hello, Ann!! How are you?")

        try workbench.saveByRenaming("Sources/Speaker/Speaker.swift", Workbench.speaker("!!!"))
        try await built("Speaker")
        try await expectAnswer("Hello, Ann!!! How are you?")
    }

    private func saveDuringBuild() async throws {
        try workbench.save("Sources/Speaker/Speaker.swift", Workbench.speaker(", at last."))
        try await dev.next("buildStarted")
        try workbench.save("Sources/Speaker/Speaker.swift", Workbench.speaker("."))
        #expect(try await dev.next("buildEnded", DevEvent.BuildResult.self).outcome == .cancelled)
        try await built("Speaker")
        try await expectAnswer("Hello, Ann. How are you?")
    }

    /// Away, where nobody looks, and back with other contents.
    private func moveFolder() async throws {
        let folder = workbench.path("Sources/Asker"), elsewhere = workbench.path("../elsewhere")
        try? FileManager.default.removeItem(atPath: elsewhere)
        try FileManager.default.moveItem(atPath: folder, toPath: elsewhere)
        let failure = try await dev.next(
            "buildEnded", DevEvent.BuildResult.self, besides: ["output", "buildStarted", "diagnostic"])
        #expect(failure.product == "Asker" && failure.outcome == .failed)
        try await expectAnswer("Hello, Ann. How are you?")

        try workbench.save("../elsewhere/Asker.swift", Workbench.asker("Where was I?"))
        try FileManager.default.moveItem(atPath: elsewhere, toPath: folder)
        try await built("Asker")
        try await expectAnswer("Hello, Ann. Where was I?")
    }

    /// The next swap is of what was saved after it.
    private func touch() async throws {
        _ = try await RunningTool(
            ["touch", workbench.path("Sources/Speaker/Speaker.swift")], of: "/usr/bin/env", input: nil
        ).end()
        try workbench.save("Sources/Asker/Asker.swift", Workbench.asker("How do you do?"))
        let swaps = try await built("Asker")
        #expect(swaps.flatMap(\.report.plugins).map(\.plugin) == ["org.example.asker"])
        try await expectAnswer("Hello, Ann. How do you do?")
    }

    private func saveResource() async throws {
        try workbench.save("Sources/Speaker/greeting.txt", "Good day")
        let swap = try #require(try await built("Speaker").first)
        #expect(swap.report.plugins.map(\.plugin) == ["org.example.speaker"])
        try await expectAnswer("Good day, Ann. How do you do?")
    }

    /// Both plugins, first by hand and then by a checkout.
    private func changeContract() async throws {
        try await workbench.git("init", "-q", "-b", "main")
        try await workbench.git("add", "-A")
        try await workbench.git("commit", "-q", "-m", "Greet in one piece")
        try await workbench.git("checkout", "-q", "-b", "words")
        try workbench.save("Sources/WorkbenchContracts/Contracts.swift", Workbench.contracts(2))
        try workbench.save("Sources/Speaker/Speaker.swift", Workbench.speaker("?", contract: 2))
        try workbench.save("Sources/Asker/Asker.swift", Workbench.asker("Who are you?", contract: 2))
        try await built("Speaker", "Asker")
        try await expectAnswer("Good day, Ann? Who are you?")
        try await workbench.git("commit", "-q", "-a", "-m", "Greet in words")
        try await workbench.git("checkout", "-q", "main")
        try await built("Speaker", "Asker")
        try await expectAnswer("Good day, Ann. How do you do?")
    }

    private func changePackage() async throws {
        try workbench.save("Package.swift", Workbench.package() + "oops(\n")
        let refusal = try await dev.next("refused", DevEvent.Refusal.self)
        #expect(refusal.subject == .package && refusal.error.location == workbench.folder + "/Package.swift")
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
        try FileManager.default.removeItem(atPath: workbench.path("Package.swift"))
        #expect(try await dev.next("refused", DevEvent.Refusal.self).subject == .package)
        try workbench.save("Package.swift", Workbench.package())
        for product in ["Speaker", "Asker"] {
            let result = try await dev.next(
                "buildEnded", DevEvent.BuildResult.self, besides: ["output", "buildStarted", "unchanged"])
            #expect(result.product == product && result.outcome == .succeeded)
        }
        try await expectAnswer("Good day, Ann. How do you do?")

        try FileManager.default.createDirectory(
            atPath: workbench.path("Sources/Latecomer"), withIntermediateDirectories: true)
        try workbench.save("Sources/Latecomer/Latecomer.swift", Workbench.signpost("Latecomer", "here"))
        try workbench.save("Package.swift", Workbench.package(products: ["Speaker", "Asker", "Latecomer"]))
        for product in ["Speaker", "Asker"] {
            let result = try await dev.next(
                "buildEnded", DevEvent.BuildResult.self, besides: ["output", "buildStarted", "unchanged"])
            #expect(result.product == product && result.outcome == .succeeded)
        }
        try workbench.save("backplane.json", Workbench.manifest("Annex", "Latecomer"))
        let change = try await dev.next(
            "applied", ManifestChangeForm.self, besides: ["output", "buildStarted", "buildEnded", "unchanged"]
        ).value
        #expect(change.started == ["Latecomer"] && change.kept == ["Speaker", "Asker", "Annex"])
        #expect(try await dev.call("Latecomer", "read") == #""here""#)
    }
}
