import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

/// The screens of a plugin in windows of its host, while its code is swapped.
@Suite(.timeLimit(.minutes(5)))
struct `Screens of a plugin` {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    // MARK: Screens

    @Test(arguments: lanes)
    func `A plugin alone makes an application`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow()
            #expect(window.path == ["Ships"] && window.texts == ["Ships of the first edition"])
            await window.press("visit", rows: ["beagle"])
            #expect(window.path == ["Ships", "Beagle"])
            #expect(window.drawing.front?.destination.input == #"{"ship":"beagle"}"#)
            await window.press("leave")
            #expect(window.path == ["Ships"])
            let list = try #require(window.drawing.screen)
            await window.send(ViewEvent(.change, "filter", value: "arg"), to: list.number)
            #expect(window.drawing.front?.body.first { $0.kind == .list }?.children.map(\.id) == ["argo"])
            await window.press("visit", rows: ["beagle"])
            #expect(window.path == ["Ships"])
            await window.close()
        }
    }

    @Test(arguments: lanes)
    func `What a screen throws while it is assembled is told, with the place of a wrong input`(
        lanes: LaneRule
    ) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow(), list = try #require(window.front)
            await window.follow(try Destination("harbour.failing"), from: list.number)
            #expect(window.drawing.alert?.title == "`harbour.failing` cannot be shown")
            #expect(window.drawing.alert?.message == "a storm keeps the harbour closed")
            window.dismissAlert()
            await window.follow(try Destination("harbour.ship", ["ship": 7]), from: list.number)
            #expect(window.drawing.alert?.message.hasPrefix("/ship: ") == true)
            window.dismissAlert()
            let missing = await error { try await window.open(try Destination("harbour.ship", ["ship": "nina"])) }
            #expect(missing?.message == "the harbour has no ship `nina`")
            #expect(window.path == ["Ships"])
        }
    }

    @Test(arguments: lanes)
    func `A screen that redraws in a loop leaves its window usable`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow()
            try await window.open(try Destination("harbour.restless"))
            await window.press("start")
            for _ in 0..<3 {
                let revision = window.drawing.revision
                #expect(await window.drawing(after: revision) != nil)
            }
            await window.press("stop")
            await window.goBack()
            #expect(window.path == ["Ships"])
        }
    }

    @Test(arguments: lanes)
    func `A screen that is never assembled is given up, and the window is usable`(lanes: LaneRule) async throws {
        let clock = TestClock()
        try await Harbour.run(lanes: lanes, clock: clock) { harbour in
            let window = try await harbour.app.makeWindow(), list = try #require(window.front)
            let endless = try Destination("harbour.endless")
            async let followed: Void = window.follow(endless, from: list.number)
            try await clock.expire(.seconds(10))
            await followed
            #expect(window.drawing.alert?.title == "`harbour.endless` cannot be shown")
            #expect(window.drawing.alert?.message.hasPrefix("`harbour.endless` was not assembled within 10") == true)
            window.dismissAlert()
            await window.press("visit", rows: ["argo"])
            #expect(window.path == ["Ships", "Argo"])
            await window.close()
        }
    }

    @Test func `A window whose root is never assembled is not opened`() async throws {
        let clock = TestClock()
        try await Harbour.run(root: "harbour.endless", clock: clock) { harbour in
            let app = harbour.app
            async let refusal = error { try await app.makeWindow() }
            try await clock.expire(.seconds(10))
            #expect(await refusal?.code == .screenNotAssembled)
        }
    }

    @Test func `A screen of the program clashes with one of a plugin, unless the manifest chooses`() async throws {
        try await Harbour.run { harbour in
            let clash = await error { try harbour.app.register(screen: PageScreen.self, forIdentifier: "harbour.ship") }
            #expect(clash?.code == .screenClash && clash?.message.contains("and `Harbour` have") == true)
            try harbour.app.register(screen: PageScreen.self, forIdentifier: "harbour.pier")
        }
        // The libraries are loaded after the registration.
        for (use, code) in [([:], "screen.clash"), (["harbour.ships": "Harbour"], nil)] as [([String: String], String?)]
        {
            try await Harbour.run(
                use: use,
                prepare: { app in
                    try app.register(screen: PageScreen.self, forIdentifier: "harbour.ships")
                }
            ) { harbour in
                do throws(BackplaneError) {
                    let window = try await harbour.app.makeWindow()
                    #expect(code == nil && window.path == ["Ships"])
                } catch { #expect(error.code.rawValue == code) }
            }
        }
    }

    // MARK: Swaps

    @Test(arguments: lanes)
    func `Open screens go on in the new code, with their inputs and at their places`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow(), other = try await harbour.app.makeWindow()
            await window.press("visit", rows: ["argo"])
            try await window.open(try Destination("harbour.counter"))
            for _ in 0..<2 { await window.press("press") }
            let before = try #require(window.drawing.front)
            #expect(window.texts == ["Counter of the first edition", "Pressed 2 times"])
            try await harbour.swap(to: 2)
            let after = try await window.first { $0.front?.body.first?.text == "Counter of the second edition" }
            #expect(after.front?.number == before.number && after.front?.destination == before.destination)
            #expect(after.front.map { $0.revision > before.revision } == true)
            #expect(window.texts == ["Counter of the second edition", "Pressed 2 times"])
            await window.press("press")
            #expect(window.texts.last == "Pressed 3 times")
            await window.goBack()
            #expect(window.path == ["Ships", "Argo"])
            // What is below follows by itself.
            try await window.first { $0.front?.body.first?.text == "Argo of the second edition" }
            await window.press("leave")
            try await window.first { $0.front?.body.first?.text == "Ships of the second edition" }
            try await other.first { $0.front?.body.first?.text == "Ships of the second edition" }
            await other.press("visit", rows: ["beagle"])
            #expect(other.texts == ["Beagle of the second edition"])
            try await harbour.swap(to: 1)
            try await other.first { $0.front?.body.first?.text == "Beagle of the first edition" }
            #expect(window.drawing.alert == nil && other.drawing.alert == nil)
        }
    }

    @Test(arguments: lanes)
    func `A screen that the new code cannot assemble stops the swap`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow()
            await window.press("visit", rows: ["wreck"])
            let refusal = await error { try await harbour.swap(to: 2) }
            let words = refusal?.detailedDescription ?? ""
            #expect(words.contains("the open screen `harbour.ship` cannot be assembled again"), "\(words)")
            #expect(words.contains("the second edition does not show wrecks"), "\(words)")
            #expect(window.texts == ["Wreck of the first edition"])
            await window.press("leave")
            #expect(window.path == ["Ships"] && window.texts == ["Ships of the first edition"])
            #expect(window.drawing.alert == nil)
        }
    }

    @Test(arguments: lanes)
    func `Screens that were closed are not assembled again`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow(), other = try await harbour.app.makeWindow()
            await window.press("visit", rows: ["wreck"])
            await window.close()
            try await harbour.swap(to: 2)
            try await other.first { $0.front?.body.first?.text == "Ships of the second edition" }
        }
    }

    @Test(arguments: lanes)
    func `Of a manager that is no longer there, the last drawing remains beside the reason`(
        lanes: LaneRule
    ) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow()
            try await harbour.host.apply(
                Manifest(plugins: harbour.plugins, managers: ["Other": harbour.definition]),
                ChangeOptions(discardsState: true))
            let drawing = try await window.first { $0.alert != nil }
            #expect(drawing.alert?.title == "“Ships” no longer works")
            #expect(window.texts == ["Ships of the first edition"])
            window.dismissAlert()
            await window.press("visit", rows: ["argo"])
            #expect(window.drawing.alert?.title == "“Ships” reports an error")
            // A new window has the screens of the new manager.
            window.dismissAlert()
            try await window.open(try Destination("harbour.counter"))
            #expect(window.texts.first == "Counter of the first edition")
            await window.close()
        }
    }
}

/// A host of the plugin with screens that exists in two editions, and its application.
private struct Harbour: Sendable {
    let host: PluginHost
    let app: AppManager
    let plugins: [PluginReference]
    let definition = ManagerDefinition(className: "Harbour")
    private let folder: TestFolder
    private let library: String

    /// Runs a host with the first edition, whose windows begin with the list of ships, or with another screen.
    ///
    /// - Parameters:
    ///   - clock: The clock of the host, by which a component that does not end is given up; `nil` for the system's.
    ///   - prepare: What is done with the application before the libraries are loaded.
    static func run(
        lanes: LaneRule = .fastest, root: String = "harbour.ships", use: [String: String] = [:],
        clock: TestClock? = nil, prepare: (AppManager) throws -> Void = { _ in },
        _ body: (Harbour) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let library = try folder.write(try FixtureLibrary.bytes("Screens1"), as: "libScreens.so")
        let plugins = [PluginReference(library: library)]
        let manifest = Manifest(
            plugins: plugins, managers: ["Harbour": ManagerDefinition(className: "Harbour")],
            screens: ScreenSettings(root: try Destination(root), use: use))
        var options = HostOptions(
            loadFolder: folder.path + "/loads", dataFolder: folder.path + "/data", lanes: lanes, occupationLimit: nil)
        if let clock {
            options.clock = clock
            options.stopLimit = .milliseconds(20)
        }
        let host = PluginHost(manifest: manifest, options: options), app = AppManager(host)
        func stop() async {
            guard let clock else { return await host.stop() }
            await clock.passing(.milliseconds(20)) { await host.stop() }
        }
        do {
            try prepare(app)
            try await host.start()
            try await body(Harbour(host: host, app: app, plugins: plugins, folder: folder, library: library))
        } catch {
            await stop()
            throw error
        }
        await stop()
    }

    func swap(to edition: Int) async throws {
        try folder.write(try FixtureLibrary.bytes("Screens\(edition)"), as: "libScreens.so")
        var options = ChangeOptions.patient
        options.trustsLibraries = true
        let report = try await host.swap(library: library, options)
        #expect(report.outcome == .changed && report.warnings == [])
    }
}

/// A manager that implements the contract `Screens` without the SDK's open screens, and not always as it should.
@Suite(.timeLimit(.minutes(5)))
struct `Screens by hand` {
    private let manifest = Manifest(managers: ["RoughScreens": ManagerDefinition()])

    private func withWindow(_ script: Script = Script(), _ body: (Window) async throws -> Void) async throws {
        try await AppManager.withWindow(script, manifest, plugins: [RoughPlugin.self]) { window, _, _ in
            try await body(window)
        }
    }

    /// Opens the screen with a form of its body.
    private func open(_ form: RoughForm, in window: Window) async throws(BackplaneError) {
        try await window.open(try Destination("rough", form))
    }

    @Test(arguments: [
        (RoughForm.deep, "views are more than 64 deep"), (.many, "there are more than 10000 views"),
        (.long, "the texts are longer than 1048576 bytes"),
    ])
    func `A screen whose first body is beyond the limits is not shown`(form: RoughForm, reason: String) async throws {
        try await withWindow { window in
            let refusal = await error { try await open(form, in: window) }
            #expect(refusal?.code == .screenInvalidView)
            #expect(refusal?.message.hasPrefix(reason) == true, "\(refusal?.message ?? "")")
            #expect(window.path == ["Home"])
        }
    }

    @Test(arguments: [RoughForm.deep, .many, .long])
    func `A later body beyond the limits ends the screen, and its last drawing remains`(form: RoughForm) async throws {
        try await withWindow { window in
            try await open(.small, in: window)
            await window.press(form.rawValue)
            let drawing = try await window.first { $0.alert != nil }
            #expect(drawing.alert?.title == "“Rough” no longer works")
            #expect(window.texts == ["small"])
            window.dismissAlert()
            await window.goBack()
            #expect(window.path == ["Home"])
        }
    }

    @Test func `An event whose drawing never comes holds nothing else up`() async throws {
        try await withWindow { window in
            try await open(.small, in: window)
            async let pressed: Void = window.press("late")
            try await window.first { $0.front?.body.first?.text == "late" }
            await window.press("same")
            try await window.first { $0.front?.body.first?.text == "same" }
            await window.goBack()
            await pressed
            #expect(window.path == ["Home"] && window.drawing.alert == nil)
        }
    }

    @Test func `A drawing with the number of another one is shown as well`() async throws {
        try await withWindow { window in
            try await open(.small, in: window)
            await window.press("same")
            let drawing = try await window.first { $0.front?.body.first?.text == "same" }
            #expect(drawing.front?.revision == 1)
        }
    }

    @Test func `Segues with one number are segues of their own, each with an end`() async throws {
        try await withWindow { window in
            try await open(.small, in: window)
            let rough = try #require(window.front)
            await window.press("twice")
            try await window.first { $0.front?.title == "Page 2" }
            #expect(window.path == ["Page 1", "Page 2"])
            // It shows how many have ended.
            await eventually { rough.drawing.body.first?.text == "2 ends" }
            #expect(window.drawing.alert == nil)
        }
    }

    @Test func `A segue and a dismissal in one change follow one another`() async throws {
        try await withWindow { window in
            try await open(.small, in: window)
            await window.press("both")
            try await window.first { $0.front?.title == "Page 3" && $0.front?.back == "Home" }
            #expect(window.drawing.alert == nil)
        }
    }

    @Test func `A screen that requests segues without end no longer works, and one can leave it`() async throws {
        let gate = TestGate()
        try await withWindow(Script(pageAssembly: { _ in try await gate.pass() })) { window in
            try await open(.small, in: window)
            await window.press("flood")
            let drawing = try await window.first { $0.alert != nil }
            #expect(drawing.alert?.title == "“Rough” no longer works")
            #expect(drawing.alert?.message == "more than 100 segues and dismissals of the screen have not ended")
            window.dismissAlert()
            // This cancels the segues, and only that.
            await window.goBack()
            #expect(window.path == ["Home", "Rough"])
            await window.goBack()
            #expect(window.path == ["Home"] && window.drawing.alert == nil)
        }
    }

    @Test func `A screen whose closing does not end keeps no other window open`() async throws {
        try await AppManager.withWindow(Script(), manifest, plugins: [RoughPlugin.self]) { window, app, host in
            try await open(.stuck, in: window)
            let other = try await app.makeWindow()
            let stop = Task { await host.host.stop() }
            try await RoughScreens.gate.arrivals()
            while await other.drawing(after: other.drawing.revision) != nil {}
            #expect(other.front == nil)
            RoughScreens.gate.open()
            await stop.value
        }
    }
}

/// The body of the screen `rough`.
enum RoughForm: String, Codable, Sendable {
    case small, deep, many, long
    /// A small body of a screen whose closing does not end before the gate is open.
    case stuck

    var body: [View] {
        switch self {
        case .small, .stuck: [Text(rawValue).view]
        case .deep: [(0..<ViewLimits.depth).reduce(Text("deep").view) { view, _ in View(.column, children: [view]) }]
        case .many: (0...ViewLimits.count).map { Text("\($0)").view }
        case .long: [Text(String(repeating: "x", count: ViewLimits.bytes + 1)).view]
        }
    }
}

private struct RoughPlugin: Plugin {
    static let id = "org.example.rough"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(RoughScreens.self) }
}

private final class RoughScreens: Manager {
    typealias Provides = Screens
    /// The changes of a screen until it is closed.
    private typealias Changes = (stream: AsyncStream<ScreenChange>, next: AsyncStream<ScreenChange>.Continuation)
    static var annotation: String? { #"{"screens":[{"identifier":"rough"}]}"# }
    private let open = Mutex<[Int: Changes]>([:])
    private let ends = Atomic(0)
    /// The gate at which the closing of a stuck screen waits.
    static let gate = TestGate()
    private let stuck = Mutex<Set<Int>>([])

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.open) { me, request, _ in
            let form = try JSON.decode(RoughForm.self, Array(request.input.utf8), failing: .screenInvalidInput)
            let (stream, next) = AsyncStream.makeStream(of: ScreenChange.self)
            me.open.withLock { $0[request.number] = (stream, next) }
            if form == .stuck { _ = me.stuck.withLock { $0.insert(request.number) } }
            return drawing(1, form.body)
        }
        table.stream(\.changes) { me, progress, changes, _ in
            guard let stream = me.open.withLock({ $0[progress.screen]?.stream }) else { return }
            for await change in stream { try await changes.send(change) }
        }
        table.async(\.handle) { me, event, _ in
            let next = me.open.withLock { $0[event.screen]?.next }
            switch event.event.id {
            case "late":
                next?.yield(ScreenChange(drawing: drawing(2, [Text("late").view])))
                return 99
            case "same": next?.yield(ScreenChange(drawing: drawing(1, [Text("same").view])))
            case "twice":
                for page in 1...2 { next?.yield(ScreenChange(segue: try segue(2, to: page))) }
            case "flood": for _ in 1...200 { next?.yield(ScreenChange(segue: try segue(2, to: 1))) }
            case "both": next?.yield(ScreenChange(segue: try segue(2, to: 3), dismissal: 2))
            case let form: next?.yield(ScreenChange(drawing: drawing(2, RoughForm(rawValue: form)?.body ?? [])))
            }
            return 1
        }
        table.sync(\.end) { me, end, _ in
            let count = me.ends.add(1, ordering: .relaxed).newValue
            let change = ScreenChange(drawing: drawing(2 + count, [Text("\(count) ends").view]))
            _ = me.open.withLock { $0[end.screen]?.next.yield(change) }
            return Nothing()
        }
        table.async(\.close) { me, screen, _ in
            me.open.withLock { $0.removeValue(forKey: screen) }?.next.finish()
            if me.stuck.withLock({ $0.contains(screen) }) { await gate.passThoughCancelled() }
            return Nothing()
        }
    }

    /// Returns a drawing with a button for each thing that the manager does.
    private static func drawing(_ revision: Int, _ body: [View]) -> ScreenDrawing {
        let buttons = ["deep", "many", "long", "late", "same", "twice", "flood", "both"].map { Button($0, id: $0).view }
        return ScreenDrawing(revision: revision, title: "Rough", body: body + buttons)
    }

    private static func segue(_ number: Int, to page: Int) throws(BackplaneError) -> Segue {
        Segue(number: number, destination: try Destination("page", ["number": page]))
    }
}
