import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Another configuration for components that live on.
@Suite(.timeLimit(.minutes(5)))
struct ReconfigurationTests {
    /// A painter of a manifest.
    private struct Painters {
        var colour: String
        var when: String?
        var className = "Painter"
        var palette: String?
        var paletteWhen: String?
        var namespace: String?
        var model: String?

        var value: ManifestValue {
            func configuration(_ colour: String, _ when: String?) -> ManifestValue {
                var value: [String: ManifestValue] = ["colour": .string(colour)]
                if let when { value["when"] = .string(when) }
                return .dictionary(value)
            }
            var value: [String: ManifestValue] = [
                "className": .string(className), "configuration": configuration(colour, when),
            ]
            if let palette {
                var controller: [String: ManifestValue] = [
                    "className": "Palette", "configuration": configuration(palette, paletteWhen),
                ]
                if let namespace { controller["namespace"] = .string(namespace) }
                value["dataAccessController"] = .dictionary(controller)
            }
            if let model { value["uses"] = ["model": .string(model)] }
            return .dictionary(value)
        }
    }

    private func document(_ painters: [String: Painters]) -> ManifestDocument {
        ManifestDocument(["manifestVersion": 1, "managers": .dictionary(painters.mapValues(\.value))])
    }

    private func host(
        _ painters: [String: Painters], startLimit: Duration = .seconds(60), stopLimit: Duration = .seconds(10)
    ) async throws -> TestHost {
        let manifest: ManifestValue = ["manifestVersion": 1, "managers": .dictionary(painters.mapValues(\.value))]
        let test = try TestHost(
            String(decoding: manifest.json, as: UTF8.self), linked: [PaintingPlugin.linked], startLimit: startLimit,
            stopLimit: stopLimit)
        try await test.host.start()
        return test
    }

    /// What each painter says, with the number of its instance.
    private func pictures(_ test: TestHost, _ names: [String]) async throws -> [String] {
        var pictures: [String] = []
        for name in names {
            pictures.append(try await test.call(name, "colour") + (try await test.call(name, "instance")))
        }
        return pictures
    }

    @Test func `only what a manager's own configuration changes is changed`() async throws {
        let test = try await host([
            "A": Painters(colour: "red"), "B": Painters(colour: "green", model: "A"), "C": Painters(colour: "blue"),
        ])
        let before = try await pictures(test, ["B", "C"]), instance = try await test.call("A", "instance")
        let change = try await test.host.apply(
            document([
                "A": Painters(colour: "white"), "B": Painters(colour: "green", model: "A"),
                "C": Painters(colour: "blue"),
            ]))
        #expect(
            change.managers
                == ManagerChanges(started: [], restarted: [], stopped: [], reconfigured: ["A"], kept: ["B", "C"]))
        #expect(try await test.call("A", "colour") == #""white""#)
        #expect(try await test.call("A", "instance") == instance)
        #expect(try await pictures(test, ["B", "C"]) == before)
        // It is the configuration of an instance that is made later, too.
        try await test.host.reset("A")
        #expect(try await test.call("A", "colour") == #""white""#)
        #expect(try await test.call("A", "instance") != instance)
        await test.host.stop()
    }

    @Test func `a swap with another manifest gives the living their configuration, or all the old one again`()
        async throws
    {
        let test = try await host(["A": Painters(colour: "red"), "B": Painters(colour: "green", model: "A")])
        let before = try await pictures(test, ["A", "B"])
        let refused = await error {
            try await test.host.swap(
                [],
                applying: self.document([
                    "A": Painters(colour: "white"), "B": Painters(colour: "none", when: "refuse", model: "A"),
                ]))
        }
        #expect(refused?.code == .swapFailed && refused?.message.contains("B refused its new configuration") == true)
        #expect(try await pictures(test, ["A", "B"]) == before)
        let report = try await test.host.swap(
            [], applying: document(["A": Painters(colour: "white"), "B": Painters(colour: "green", model: "A")]))
        #expect(report.managers.reconfigured == ["A"] && report.components.map(\.action) == [.reconfigured])
        #expect(try await test.call("A", "colour") == #""white""#)
        await test.host.stop()
    }

    @Test func `a class that takes no other configuration is recreated`() async throws {
        let test = try await host([
            "A": Painters(colour: "red", className: "FixedPainter"), "B": Painters(colour: "green", model: "A"),
        ])
        let change = try await test.host.apply(
            document([
                "A": Painters(colour: "white", className: "FixedPainter"),
                "B": Painters(colour: "black", model: "A"),
            ]))
        #expect(change.managers.restarted == ["A"] && change.managers.reconfigured == ["B"])
        #expect(try await test.call("B", "colour") == #""black""#)
        await test.host.stop()
    }

    @Test func `a shared collaborator is reconfigured if all who share it change alike`() async throws {
        let test = try await host([
            "A": Painters(colour: "red", palette: "oil"), "B": Painters(colour: "green", palette: "oil"),
        ])
        let before = try await pictures(test, ["A", "B"])
        let change = try await test.host.apply(
            document([
                "A": Painters(colour: "red", palette: "chalk"), "B": Painters(colour: "green", palette: "chalk"),
            ]))
        #expect(change.managers.reconfigured == ["A", "B"] && change.managers.restarted == [])
        #expect(try await pictures(test, ["A", "B"]) == before.map { $0.replacing("oil", with: "chalk") })
        await test.host.stop()
    }

    @Test(arguments: [false, true])
    func `after a refusal all have the old configuration, and nothing else has changed`(isPalette: Bool) async throws {
        let old = [
            "A": Painters(colour: "red"), "B": Painters(colour: "green", palette: "oil"), "C": Painters(colour: "blue"),
        ]
        let test = try await host(old), before = try await pictures(test, ["A", "B", "C"])
        var new = old
        new["A"]?.colour = "white"
        new["B"] =
            isPalette
            ? Painters(colour: "black", palette: "chalk", paletteWhen: "refuse")
            : Painters(colour: "black", when: "refuse", palette: "oil")
        new["C"] = nil
        new["D"] = Painters(colour: "grey")
        let refusal = await error { try await test.host.apply(document(new)) }
        #expect(refusal?.code == .swapFailed && refusal?.causes.map(\.code) == [.componentFailed])
        let name = isPalette ? "Palette" : "B"
        #expect(refusal?.message.contains("\(name) refused its new configuration") == true)
        #expect(
            refusal?.location
                == (isPalette ? "/managers/B/dataAccessController/configuration" : "/managers/B/configuration"))
        #expect(try await pictures(test, ["A", "B", "C"]) == before)
        #expect(await error { try await test.call("D", "colour") }?.code == .unknownManager)
        // What A was told, in turn: the new configuration, if it came before the one that refused, and then the old
        // one.
        let told = test.log.records.filter { $0.source == "A" }.map(\.message)
        #expect(told == [] || told == ["white", "red"], "\(told)")
        #expect(try await test.host.apply(document(old)).managers.kept == ["A", "B", "C"])
        await test.host.stop()
    }

    @Test func `calls go on meanwhile, and none is lost`() async throws {
        let test = try await host(["A": Painters(colour: "red", palette: "oil")])
        let painter: Remote<Painting> = try await test.host.manager("A"), instance = try await painter.instance()
        let callers = (0..<4).map { _ in
            Task {
                var calls = 0
                while !Task.isCancelled {
                    guard try await painter.instance() == instance else { return -1 }
                    calls += 1
                    // Native calls do not suspend, and the callers must not occupy Swift's pool.
                    await Task.yield()
                }
                return calls
            }
        }
        for round in 0..<50 {
            let colour = "colour \(round)"
            let change = try await test.host.apply(
                document(["A": Painters(colour: colour, palette: "paint \(round)")]))
            #expect(change.managers.reconfigured == ["A"])
            #expect(try await painter.colour() == "\(colour) paint \(round)")
        }
        for caller in callers {
            caller.cancel()
            #expect(try await caller.value >= 0)
        }
        await test.host.stop()
    }
}

/// Painters with palettes, most of which take another configuration while they work.
enum PaintingPlugin {
    static let linked = LinkedPlugin(id: "org.backplane.tests.painting", version: "1.0.0") { registrar in
        registrar.add(Painter.self)
        registrar.add(FixedPainter.self)
        registrar.add(Palette.self)
    }
    fileprivate static let number = Atomic<Int>(0)
}

struct Painting: Contract {
    static let version: Version = "1.0.0"
    let colour = AsyncMethod<Nothing, String>()
    /// The number of the instance, which no other has.
    let instance = AsyncMethod<Nothing, Int>()
}

struct Paints: Contract {
    static let version: Version = "1.0.0"
    let colour = AsyncMethod<Nothing, String>()
    let instance = AsyncMethod<Nothing, Int>()
}

struct PaintConfiguration: Decodable, Sendable {
    var colour: String
    /// What is done when the component takes this configuration.
    var when: String?

    struct Refused: Error {}

    func accept() async throws {
        switch when {
        case "refuse": throw Refused()
        case "hang": try await Task.sleep(for: .seconds(3_600))
        default: break
        }
    }
}

final class Painter: Manager, ReconfigurableComponent {
    typealias Provides = Painting
    typealias Configuration = PaintConfiguration
    struct Wires: Wiring {
        let dataAccessController: Wire<Paints>?
        let model: Wire<Painting>?
    }
    private let wires: Wires
    private let colour: Mutex<String>
    private let instance = PaintingPlugin.number.add(1, ordering: .relaxed).newValue
    private let log: Log

    init(_ context: Context) {
        (wires, log) = (context.wires, context.log)
        colour = Mutex(context.configuration.colour)
    }

    func reconfigure(_ configuration: PaintConfiguration) async throws {
        log.info("\(configuration.colour)")
        try await configuration.accept()
        colour.withLock { $0 = configuration.colour }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.colour) { painter, _, call in
            let own = painter.colour.withLock { $0 }
            let paint = try await painter.wires.dataAccessController?.colour(call)
            return paint.map { "\(own) \($0)" } ?? own
        }
        table.async(\.instance) { painter, _, _ in painter.instance }
    }
}

final class FixedPainter: Manager {
    typealias Provides = Painting
    typealias Configuration = PaintConfiguration
    private let colour: String
    private let instance = PaintingPlugin.number.add(1, ordering: .relaxed).newValue

    init(_ context: Context) { colour = context.configuration.colour }

    static func methods(_ table: inout Methods) {
        table.async(\.colour) { painter, _, _ in painter.colour }
        table.async(\.instance) { painter, _, _ in painter.instance }
    }
}

final class Palette: DataAccessController, ReconfigurableComponent {
    typealias Provides = Paints
    typealias Configuration = PaintConfiguration
    private let colour: Mutex<String>
    private let instance = PaintingPlugin.number.add(1, ordering: .relaxed).newValue

    init(_ context: Context) { colour = Mutex(context.configuration.colour) }

    func reconfigure(_ configuration: PaintConfiguration) async throws {
        try await configuration.accept()
        colour.withLock { $0 = configuration.colour }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.colour) { palette, _, _ in palette.colour.withLock { $0 } }
        table.async(\.instance) { palette, _, _ in palette.instance }
    }
}
