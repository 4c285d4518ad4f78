import Foundation
import TestFixtures
import Testing

/// `backplane new` as it is entered: what it refuses, and that it leaves nothing behind then.
@Suite(.timeLimit(.minutes(5)))
struct NewCommandTests {
    private let tool: Tool
    private let root: String

    init() throws {
        tool = try Tool()
        root = tool.folder + "/here"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    }

    /// Enters it in a folder of the test's own.
    private func new(_ arguments: [String]) async throws -> Tool.Outcome {
        try await RunningTool(["new"] + arguments, input: nil, in: root).end()
    }

    private func new(_ arguments: String...) async throws -> Tool.Outcome { try await new(arguments) }

    private func names(in folder: String = "") throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root + "/" + folder).sorted()
    }

    private func write(_ text: String, as path: String) throws {
        let url = URL(filePath: root + "/" + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    @Test func `a package is written, with what to enter next`() async throws {
        let outcome = try await new("package", "plugins/Tides", "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        struct Made: Decodable {
            struct Paste: Decodable {}
            var files: [String], changed: [String], paste: [Paste], next: [String]
        }
        let made = try JSONDecoder().decode(Made.self, from: Data(outcome.output.utf8))
        let there = try names().filter { name in !made.files.contains { $0.hasPrefix(name + "/") } }
        #expect(there == made.files.sorted())
        #expect(made.changed.isEmpty && made.paste.isEmpty)
        #expect(made.next.first == "cd plugins/Tides")
        let package = try String(contentsOfFile: root + "/plugins/Tides/Package.swift", encoding: .utf8)
        #expect(
            package.contains("path: \"\(Page.root.path)"), "it depends on the package that the command was built from")
    }

    @Test func `a folder with something in it is refused, with what there is, and stays as it is`() async throws {
        try write("mine", as: "Tides/notes.txt")
        let outcome = try await new("package", "Tides")
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(
            outcome.errors
                == "backplane: Tides: new.exists: the folder is not empty: it contains `notes.txt`; choose another name, or an empty folder\n"
        )
        #expect(try names(in: "Tides") == ["notes.txt"])
    }

    @Test func `what is no checkout of Backplane is refused before anything is written`() async throws {
        let outcome = try await new("package", "Tides", "--backplane", root)
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.contains(
                "new.package: expected a checkout of Backplane, found no `Sources/CBackplane/include/backplane.h` there"
            ))
        #expect(try names() == [])
    }

    @Test(arguments: [["plugin", "Tides"], ["manager", "Tides"]])
    func `without a package there is nothing to add to`(arguments: [String]) async throws {
        let outcome = try await RunningTool(["new"] + arguments, input: nil, in: root).end()
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.contains(
                "new.package: there is no Package.swift in this folder or above it; `backplane new package NAME` creates a package"
            ))
    }

    @Test func `a Package.swift that SwiftPM cannot read is said so, in the compiler's words`() async throws {
        try write(
            "// swift-tools-version: 6.3\nimport PackageDescription\nlet package = Pakage(\n\tname: \"a\")\n",
            as: "Package.swift")
        let outcome = try await new("plugin", "Tides")
        #expect(outcome.status == 1)
        let lines = outcome.errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.first
                == "backplane: \(root)/Package.swift: new.package: SwiftPM cannot read the package `here`; fix it, and run the command again"
        )
        #expect(
            Array(lines.dropFirst().prefix(4)) == [
                "\(root)/Package.swift:3:15: error: cannot find 'Pakage' in scope", "1 | // swift-tools-version: 6.3",
                "2 | import PackageDescription",
                "3 | let package = Pakage(",
            ])
        #expect(
            lines.contains("  |               `- error: cannot find 'Pakage' in scope")
                && lines.contains("4 | \tname: \"a\")"))
        #expect(
            !outcome.errors.contains("compiled with") && !outcome.errors.contains("invalid manifests"),
            "what SwiftPM did is no mistake of anybody")
        #expect(try names() == ["Package.swift"])
    }

    @Test func `a plugin is added to Package.swift, and the difference is shown`() async throws {
        let package =
            "// swift-tools-version: 6.3\nimport PackageDescription\nlet package = Package(name: \"a\", products: [], dependencies: [], targets: [])\n"
        try write(package, as: "Package.swift")
        let arguments = ["plugin", "Tides", "--backplane", Page.root.path]
        let planned = try await new(arguments + ["--print"])
        #expect(planned.status == 0 && planned.output.contains("would change Package.swift\n"), "\(planned.errors)")
        #expect(try names().filter { !$0.hasPrefix(".build") } == ["Package.swift"], "nothing is written")
        let outcome = try await new(arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output
                == planned.output.replacing("would write", with: "wrote").replacing("would change", with: "changed"))
        let edited = try String(contentsOfFile: root + "/Package.swift", encoding: .utf8)
        for line in [
            #".library(name: "Tides", type: .dynamic, targets: ["Tides"]),"#,
            #".package(name: "backplane", path: "\#(Page.root.path)", traits: []),"#,
            #".target(name: "Tides", dependencies: [.product(name: "Backplane", package: "backplane")]),"#,
        ] {
            #expect(edited.contains("\n    \(line)\n"), "\(edited)")
            #expect(outcome.output.contains("\n  +     \(line)\n"), "\(outcome.output)")
        }
        let twice = try await new(arguments)
        #expect(twice.status == 1 && twice.errors.contains("new.exists"))
    }

    @Test func `the manifest that SwiftPM reads for its version is edited, and no other`() async throws {
        let package =
            "// swift-tools-version: 6.1\nimport PackageDescription\nlet package = Package(name: \"a\", products: [], dependencies: [], targets: [])\n"
        let names = ["Package.swift", "Package@swift-5.9.swift", "Package@swift-6.swift"]
        for name in names { try write(package, as: name) }
        let outcome = try await new("contracts", "Harbour", "--backplane", Page.root.path)
        #expect(outcome.status == 0 && outcome.output.contains("changed Package@swift-6.swift\n"), "\(outcome.errors)")
        let edited = try names.filter { try String(contentsOfFile: root + "/" + $0, encoding: .utf8) != package }
        #expect(edited == ["Package@swift-6.swift"])
        #expect(try await new("contracts", "Harbour").errors.contains("Package@swift-6.swift: new.exists"))
    }

    @Test func `a Package.swift that computes its lists stays as it is, and the lines for it are printed`() async throws
    {
        let package =
            "// swift-tools-version: 6.3\nimport PackageDescription\nfunc none() -> [Target] { [] }\nlet package = Package(name: \"a\", targets: none())\n"
        try write(package, as: "Package.swift")
        let outcome = try await new(["contracts", "Harbour", "--backplane", Page.root.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output.contains(
                """

                paste into Package.swift, at the top of `targets`:
                        .target(name: "HarbourContracts", dependencies: [.product(name: "Backplane", package: "backplane")]),

                """), "\(outcome.output)")
    }

    @Test func `a manager is added to the plugin's dependencies, and to what it registers`() async throws {
        _ = try await new(["package", "Tides", "--backplane", Page.root.path])
        let outcome = try await RunningTool(["new", "manager", "Crew", "--dac"], input: nil, in: root + "/Tides").end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let plugin = try String(contentsOfFile: root + "/Tides/Sources/Tides/TidesPlugin.swift", encoding: .utf8)
        #expect(
            plugin.contains(
                """
                        registrar.add(CrewManager.self)
                        registrar.add(CrewStore.self)
                        registrar.add(TidesManager.self)

                """), "\(plugin)")
        #expect(
            outcome.output.contains(
                """
                changed Sources/Tides/TidesPlugin.swift
                  +         registrar.add(CrewManager.self)
                  +         registrar.add(CrewStore.self)

                """), "\(outcome.output)")
        let package = try String(contentsOfFile: root + "/Tides/Package.swift", encoding: .utf8)
        #expect(package.contains(#".product(name: "BackplaneStorage", package: "backplane"),"#))
        #expect(!outcome.output.contains("paste into"))
    }

    @Test func `a manifest that cannot be added to stops it before anything is written`() async throws {
        try write(
            "// swift-tools-version: 6.3\nimport PackageDescription\nlet package = Package(name: \"a\", targets: [])\n",
            as: "Package.swift")
        try write("{", as: "backplane.json")
        let outcome = try await new("plugin", "Tides", "--backplane", Page.root.path)
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.contains("backplane.json: ") && outcome.errors.contains("manifest.malformed"),
            "\(outcome.errors)")
        #expect(try names().filter { !$0.hasPrefix(".build") } == ["Package.swift", "backplane.json"])
    }

    @Test func `contracts that two plugins share are a library, and a manager that uses another has its wire`()
        async throws
    {
        let tides = root + "/Tides"
        func new(_ arguments: String...) async throws -> Tool.Outcome {
            try await RunningTool(["new"] + arguments, input: nil, in: tides).end()
        }
        #expect(try await self.new("package", "Tides", "--backplane", Page.root.path).status == 0)
        let plugin = try await new("plugin", "Ferry"), contracts = try await new("contracts", "Harbour")
        #expect(plugin.status == 0 && contracts.status == 0, "\(plugin.errors)\(contracts.errors)")
        #expect(contracts.output.contains(#".library(name: "HarbourContracts", targets: ["HarbourContracts"]),"#))
        let desk = try await new("manager", "Desk", "--contracts", "Harbour", "--plugin", "Ferry")
        #expect(
            desk.status == 0 && desk.output.contains("wrote Sources/HarbourContracts/DeskContracts.swift"),
            "\(desk.errors)")
        let harbour = try await new("manager", "Harbour", "--contracts", "Harbour", "--plugin", "Ferry")
        #expect(harbour.status == 0, "a library has no contract until one is added: \(harbour.errors)")
        let jetty = try await new("plugin", "Jetty", "--contracts", "Harbour")
        #expect(
            jetty.status == 0 && jetty.output.contains("wrote Sources/HarbourContracts/JettyContracts.swift")
                && jetty.output.contains(#"package: "backplane"), "HarbourContracts"]),"#),
            "\(jetty.errors)\(jetty.output)")
        let quay = try await new(
            "manager", "Quay", "--plugin", "Tides", "--uses", "TidesManager", "--uses", "DeskManager", "--uses",
            "DeskManager")
        #expect(quay.status == 0, "\(quay.errors)")
        let manager = try String(contentsOfFile: tides + "/Sources/Tides/QuayManager.swift", encoding: .utf8)
        #expect(manager.contains("import HarbourContracts\n") && manager.contains("let desk: Wire<Desk>"))
        #expect(manager.contains("let tides: Wire<Tides>"))
        let manifest = try String(contentsOfFile: tides + "/backplane.json", encoding: .utf8)
        #expect(manifest.contains(#""uses": { "desk": "DeskManager", "tides": "TidesManager" }"#), "\(manifest)")

        let before = try names(in: "Tides").filter { !$0.hasPrefix(".build") }
        for (arguments, reason) in [
            (["--uses", "TidesManager"], "is in the plugin `Tides`, which no other plugin can import"),
            (["--uses", "DeskManger"], "no manager is named `DeskManger`; did you mean `DeskManager`?"),
            (["--contracts", "Harbor"], "`HarborContracts`; did you mean `HarbourContracts`?"),
            (["--contracts", "Tides"], "no library of contracts `TidesContracts`"),
        ] {
            let outcome = try await RunningTool(
                ["new", "manager", "Wrong", "--plugin", "Ferry"] + arguments, input: nil, in: tides
            ).end()
            #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(outcome.errors)")
        }
        #expect(
            try names(in: "Tides").filter { !$0.hasPrefix(".build") } == before, "what is refused leaves nothing")
    }
}
