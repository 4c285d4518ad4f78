#if Engines
import Backplane
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneTools

/// A package that is worked on while `backplane dev` builds and runs it.
@Suite(.nightly, .timeLimit(.minutes(15)))
struct DevPackageTests {
    private let tool: Tool
    private let folder: String
    private let source: String
    private let dev: DevRun

    init() throws {
        tool = try Tool()
        let packages = try PackagesFolder(keeping: "workbench")
        folder = packages.path + "/workbench"
        source = folder + "/Sources/Greeter/Greeter.swift"
        try FileManager.default.createDirectory(
            atPath: folder + "/Sources/Greeter", withIntermediateDirectories: true)
        for (path, text) in [
            (folder + "/Package.swift", Self.package), (folder + "/backplane.json", Self.manifest),
            (source, Self.greeter("!")),
        ] where (try? String(contentsOfFile: path, encoding: .utf8)) != text {
            // A file that is there as it should be keeps its date.
            try Self.save(text, to: path)
        }
        dev = try DevRun(
            folder + "/backplane.json", "--scratch-path", packages.scratchPath, "--web-address", "127.0.0.1:0",
            with: tool)
    }

    /// One story, since every build takes its time.
    @Test func `saved code is built and becomes active, code that does not build changes nothing, and no call is lost`()
        async throws
    {
        let beginning = try await dev.next("started", DevEvent.Beginning.self)
        #expect(beginning.packages.map(\.path) == [folder])
        #expect(beginning.packages.map(\.products) == [["Greeter"]])
        let application = try await dev.up(besides: ["output", "buildStarted", "buildEnded"])
        #expect(application.managers.map(\.state) == ["ready", "ready"], "\(application)")
        try await expectAnswer("Hello, Ann!")
        let caller = BusyCaller(application.control, "Greeter", "linger")
        let visitor = try ScreenVisitor(signingInAt: try #require(application.screens))
        let screen = try visitor.events(of: try visitor.page())
        #expect(screen.receive(to: "Welcome!").hasSuffix("Welcome!"))

        try await saveAndSwap("!!")
        #expect(screen.receive(to: "Welcome!!").hasSuffix("Welcome!!"), "the open page has changed")

        try Self.save(Self.greeter("?") + "let mistake: Int = true\n", to: source)
        try await dev.next("buildStarted")
        let finding = try await dev.next("diagnostic", DevEvent.Finding.self)
        let line = Self.greeter("?").split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(finding.product == "Greeter" && finding.diagnostic.severity == "error")
        #expect(finding.diagnostic.file == source)
        #expect((finding.diagnostic.line, finding.diagnostic.column) == (line, 20))
        let failure = try await dev.next("buildEnded", DevEvent.BuildResult.self, besides: ["output", "diagnostic"])
        #expect(failure.outcome == .failed)
        try await expectAnswer("Hello, Ann!!")

        try await saveAndSwap("!!!")
        #expect(try await dev.call("Greeter", "greeted") == "4", "every greeting was counted by the same state")
        let calls = caller.end()
        #expect(calls.answered > 0 && calls.failures == [])
        try await dev.stop()
    }

    private func saveAndSwap(_ end: String) async throws {
        try Self.save(Self.greeter(end), to: source)
        let build = try await dev.next("buildStarted", DevEvent.Build.self)
        #expect(build.product == "Greeter" && build.because == [source])
        // The library may be active before its build has ended.
        var left: Set<String> = ["buildEnded", "swapped"]
        while !left.isEmpty {
            let event = try await dev.next(anyOf: left, besides: ["output"])
            left.remove(event.name)
            if event.name == "swapped" {
                let report = try event.payload(DevEvent.Swap.self).report
                #expect(report.plugins.map(\.plugin) == ["org.example.greeter"])
            } else {
                #expect(try event.payload(DevEvent.BuildResult.self).outcome == .succeeded, "\(event)")
            }
        }
        try await expectAnswer("Hello, Ann\(end)")
    }

    private func expectAnswer(_ answer: String, _ location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await dev.call("Greeter", "greet", #""Ann""#) == "\"\(answer)\"", sourceLocation: location)
    }

    /// Writes into the file that is there.
    private static func save(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    // MARK: The package

    private static let package = """
        // swift-tools-version: 6.3
        import PackageDescription

        let package = Package(
            name: "workbench",
            products: [.library(name: "Greeter", type: .dynamic, targets: ["Greeter"])],
            dependencies: [.package(path: "../backplane", traits: [])],
            targets: [
                .target(
                    name: "Greeter",
                    dependencies: ["Backplane", "BackplaneScreens"].map { .product(name: $0, package: "backplane") })
            ])

        """

    private static let manifest = """
        {
          "manifestVersion": 1,
          "plugins": [{ "library": "Greeter" }],
          "screens": { "root": "welcome" },
          "managers": { "Greeter": { "className": "Greeter" }, "Hall": { "className": "Hall" } }
        }

        """

    /// Greets, and counts; state that a swap carries over. A screen has a greeting, too.
    private static func greeter(_ end: String) -> String {
        """
        import Backplane
        import BackplaneScreens

        struct Greetings: Contract {
            static let version: Version = "1.0.0"
            let greet = AsyncMethod<String, String>()
            let greeted = AsyncMethod<Nothing, Int>()
            let linger = AsyncMethod<Nothing, Int>()
        }

        actor Greeter: Manager, StatefulComponent {
            typealias Provides = Greetings
            struct State: Codable { var greeted: Int }
            private var greeted = 0

            init(_ context: Context) {}

            func exportState() -> State { State(greeted: greeted) }
            func importState(_ state: State) { greeted = state.greeted }

            private func greet(_ name: String) -> String {
                greeted += 1
                return "Hello, \\(name)\(end)"
            }

            static func methods(_ table: inout Methods) {
                table.async(\\.greet) { greeter, name, _ in await greeter.greet(name) }
                table.async(\\.greeted) { greeter, _, _ in await greeter.greeted }
                table.async(\\.linger) { greeter, _, _ in
                    try await Task.sleep(for: .milliseconds(20))
                    return await greeter.greeted
                }
            }
        }

        final class Hall: ScreenManager {
            let screens: OpenScreens

            init(_ context: Context) { screens = OpenScreens(context) }

            static func screens(_ table: inout ScreenTable) { table.add(Welcome.self) }
        }

        final class Welcome: Screen {
            static let identifier = "welcome"

            static func assemble(with input: Nothing, agent: Agent) -> Welcome { Welcome() }

            var body: [View] { Heading("Welcome\(end)") }
        }

        public struct GreeterPlugin: Plugin {
            public static let id = "org.example.greeter"
            public static let version: Version = "1.0.0"
            public static func register(in registrar: inout Registrar) {
                registrar.add(Greeter.self)
                registrar.add(Hall.self)
            }
        }

        """
    }
}
#endif
