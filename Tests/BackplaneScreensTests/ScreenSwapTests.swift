import Backplane
import BackplaneApp
import BackplaneScreens
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Screens that call a manager with state while they are assembled, which is swapped together with them.
@Suite(.timeLimit(.minutes(5)))
struct `Screens and the managers that they call` {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    @Test(arguments: lanes, ["Catalogue", "Pages"])
    func `An open screen is assembled from the manager that is swapped with its own, whatever their names are`(
        lanes: LaneRule, name: String
    ) async throws {
        try await Reading.run(lanes: lanes, screens: name) { reading in
            let window = try await reading.app.makeWindow()
            await window.press("lend")
            #expect(window.texts == ["the first page of the first library, lent 1 times"])
            let report = try await reading.swap(to: Second.self)
            #expect(report.outcome == .changed && report.warnings == [])
            try await window.first {
                $0.front?.body.first?.text == "the second page of the second library, lent 1 times"
            }
            await window.press("lend")
            #expect(window.texts == ["the second page of the second library, lent 2 times"])
            #expect(window.drawing.alert == nil)
            await window.close()
        }
    }

    @Test(arguments: lanes)
    func `A screen that is not assembled undoes the swap of the manager, too`(lanes: LaneRule) async throws {
        try await Reading.run(lanes: lanes) { reading in
            let window = try await reading.app.makeWindow()
            let refusal = await error { try await reading.swap(to: Unshowable.self) }
            let words = refusal?.detailedDescription ?? ""
            #expect(refusal?.code == .swapFailed)
            #expect(words.contains("the open screen `book` cannot be assembled again: it is broken"), "\(words)")
            #expect(window.texts == ["the first page of the first library, lent 0 times"])
            await window.press("lend")
            #expect(window.texts == ["the first page of the first library, lent 1 times"])
            #expect(window.drawing.alert == nil)
            let report = try await reading.swap(to: Second.self)
            #expect(report.outcome == .changed)
            try await window.first {
                $0.front?.body.first?.text == "the second page of the second library, lent 1 times"
            }
            await window.close()
        }
    }

    @Test func `A screen that is never assembled again undoes the swap, and the window is usable`() async throws {
        try await Reading.run(lanes: .fastest) { reading in
            let window = try await reading.app.makeWindow()
            await window.press("lend")
            let refusal = await error {
                try await reading.test.expiring(.seconds(10), once: { try await Endless.gate.arrivals() }) {
                    try await reading.swap(
                        to: Endless.self,
                        ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(10)))
                }
            }
            let words = refusal?.detailedDescription ?? ""
            #expect(refusal?.code == .swapFailed)
            #expect(words.contains("Catalogue took longer than 10.0 seconds to be activated"), "\(words)")
            #expect(window.texts == ["the first page of the first library, lent 1 times"])
            await window.press("lend")
            #expect(window.texts == ["the first page of the first library, lent 2 times"])
            #expect(window.drawing.alert == nil)
            Endless.gate.open()
            await window.close()
        }
    }

    @Test(arguments: lanes)
    func `A rollback assembles the screen from the manager that returns`(lanes: LaneRule) async throws {
        try await Reading.run(lanes: lanes) { reading in
            let window = try await reading.app.makeWindow()
            await window.press("lend")
            let report = try await reading.swap(to: Ill.self, .onProbation)
            #expect(report.outcome == .rolledBack && report.warnings == [])
            await window.press("look")
            #expect(window.texts == ["the first page of the first library, lent 1 times"])
            await window.press("lend")
            #expect(window.texts == ["the first page of the first library, lent 2 times"])
            #expect(window.drawing.alert == nil)
            await window.close()
        }
    }

    @Test(arguments: lanes, [true, false])
    func `A rollback assembles the screen from a manager without state, whatever the rejected one provides`(
        lanes: LaneRule, providesLibrary: Bool
    ) async throws {
        try await Reading.run(lanes: lanes, library: "Hall") { reading in
            let window = try await reading.app.makeWindow()
            #expect(window.texts == ["the first page of the first hall"])
            let report =
                try await
                (providesLibrary
                ? reading.swap(to: Ill.self, .onProbation) : reading.swap(to: Homeless.self, .onProbation))
            #expect(report.outcome == .rolledBack && report.warnings == [])
            // The screen shows what it has found when it was assembled.
            await window.press("look")
            #expect(window.texts == ["the first page of the first hall"])
            await window.press("lend")
            #expect(window.texts == ["the first page of the first hall, lent"])
            #expect(window.drawing.alert == nil)
            await window.close()
        }
    }
}

/// A host of the plugin that has both, in several editions, and its application.
private struct Reading: Sendable {
    let test: TestHost
    let app: AppManager
    var host: PluginHost { test.host }

    static func run(
        lanes: LaneRule, screens name: String = "Catalogue", library: String = "Shelf",
        _ body: (Reading) async throws -> Void
    ) async throws {
        let manifest = Manifest(
            plugins: [],
            managers: [name: ManagerDefinition(className: "Pages"), "Library": ManagerDefinition(className: library)],
            screens: ScreenSettings(root: try Destination("book")))
        let test = TestHost(
            ManifestDocument(manifest), linked: [plugin(of: First.self)], files: try TestFolder()
        ) { options in options.lanes = lanes }
        do {
            try await test.host.start()
            try await body(Reading(test: test, app: AppManager(test.host)))
        } catch {
            await test.host.stop()
            throw error
        }
        await test.host.stop()
    }

    func swap<E: Edition>(
        to edition: E.Type, _ options: ChangeOptions = .patient
    ) async throws(BackplaneError) -> ChangeReport {
        let coordinator = host.coordinator, plugin = Self.plugin(of: edition)
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: [plugin], options)
        }
    }

    private static func plugin<E: Edition>(of edition: E.Type) -> LinkedPlugin {
        LinkedPlugin(id: "org.example.reading", version: E.version) { registrar in
            registrar.add(Pages<E>.self)
            registrar.add(Shelf<E>.self)
            if E.providesLibrary { registrar.add(Hall<E>.self) } else { registrar.add(Office<E>.self) }
        }
    }
}

private protocol Edition: Sendable {
    static var word: String { get }
    static var version: Version { get }
    /// A Boolean value that indicates whether its hall is a library.
    static var providesLibrary: Bool { get }
    /// Returns once the edition can show its page, or throws an error if it cannot.
    static func admit() async throws
    /// Throws an error if the edition of the library is not healthy.
    static func checkHealth() throws
}

extension Edition {
    static var providesLibrary: Bool { true }
    static func admit() {}
    static func checkHealth() {}
}

private enum First: Edition {
    static let word = "first"
    static let version: Version = "1.0.0"
}

private enum Second: Edition {
    static let word = "second"
    static let version: Version = "2.0.0"
}

private enum Unshowable: Edition {
    static let word = "unshowable"
    static let version: Version = "3.0.0"
    static func admit() throws { throw Broken() }
}

/// An edition that never shows its page, not even when it is cancelled, until the test is over.
private enum Endless: Edition {
    static let word = "endless"
    static let version: Version = "5.0.0"
    static let gate = TestGate()
    static func admit() async { await gate.passThoughCancelled() }
}

private enum Ill: Edition {
    static let word = "ill"
    static let version: Version = "4.0.0"
    static func checkHealth() throws { throw Broken() }
}

/// An edition whose hall is no library, and ill.
private enum Homeless: Edition {
    static let word = "homeless"
    static let version: Version = "6.0.0"
    static let providesLibrary = false
    static func checkHealth() throws { throw Broken() }
}

private struct Library: Contract {
    static let name = "Library"
    static let version: Version = "1.0.0"
    let words = AsyncMethod<String, String>()
    let lend = AsyncMethod<String, String>()
}

private struct ShelfState: Codable, Sendable {
    var lent: Int
}

private final class Shelf<E: Edition>: Manager, StatefulComponent {
    typealias Provides = Library
    static var className: String { "Shelf" }
    static var stateSchema: StateSchema { StateSchema(name: "shelf") }
    private let lent = Mutex(0)

    init(_ context: Context) {}

    func exportState() -> ShelfState { ShelfState(lent: lent.withLock { $0 }) }
    func importState(_ state: ShelfState) { lent.withLock { $0 = state.lent } }
    func health() throws { try E.checkHealth() }

    static func methods(_ table: inout Methods) {
        table.async(\.words) { shelf, book, _ in shelf.words(of: book) }
        table.async(\.lend) { shelf, book, _ in
            shelf.lent.withLock { $0 += 1 }
            return shelf.words(of: book)
        }
    }

    private func words(of book: String) -> String {
        "\(book) of the \(E.word) library, lent \(lent.withLock { $0 }) times"
    }
}

/// A library without state.
private final class Hall<E: Edition>: Manager {
    typealias Provides = Library
    static var className: String { "Hall" }

    init(_ context: Context) {}

    func health() throws { try E.checkHealth() }

    static func methods(_ table: inout Methods) {
        table.async(\.words) { _, book, _ in "\(book) of the \(E.word) hall" }
        table.async(\.lend) { _, book, _ in "\(book) of the \(E.word) hall, lent" }
    }
}

private struct Enquiries: Contract {
    static let name = "Enquiries"
    static let version: Version = "1.0.0"
    let ask = AsyncMethod<String, String>()
}

/// A hall that is no library.
private final class Office<E: Edition>: Manager {
    typealias Provides = Enquiries
    static var className: String { "Hall" }

    init(_ context: Context) {}

    func health() throws { try E.checkHealth() }

    static func methods(_ table: inout Methods) { table.async(\.ask) { _, question, _ in question } }
}

private final class Pages<E: Edition>: ScreenManager {
    static var className: String { "Pages" }
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) { table.add(BookPage<E>.self) }
}

private actor BookPage<E: Edition>: Screen {
    static var identifier: String { "book" }
    private let library: Wire<Library>?, agent: Agent
    private var words: String

    private init(_ library: Wire<Library>?, _ agent: Agent, _ words: String) {
        (self.library, self.agent, self.words) = (library, agent, words)
    }

    static func assemble(with input: Nothing, agent: Agent) async throws -> BookPage {
        guard E.providesLibrary else { return BookPage(nil, agent, "the \(E.word) page") }
        let library = try await agent.resolve(Library.self)
        let words = try await library.words("the \(E.word) page", agent.call)
        try await E.admit()
        return BookPage(library, agent, words)
    }

    var body: [View] {
        Text(words)
        Button("Lend", id: "lend")
        Button("Look", id: "look")
    }

    func handle(_ event: ViewEvent) async throws {
        guard event.id == "lend", let library else { return }
        words = try await library.lend("the \(E.word) page", agent.call)
    }
}

extension ChangeOptions {
    /// A probation that ends when the new code is ill.
    fileprivate static let onProbation = ChangeOptions(
        probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)),
        drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
}
