import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
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
    func `A segue of the assembly follows once the screen is shown`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow()
            try await window.open(try Destination("harbour.detour"))
            try await window.first { $0.front?.identifier == "harbour.ship" }
            #expect(window.path == ["harbour.detour", "Argo"])
        }
    }

    @Test(arguments: lanes)
    func `A view that is too large is an alert, and the last drawing remains`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow()
            try await window.open(try Destination("harbour.large"))
            for form in ["many", "deep", "long"] {
                await window.press(form)
                #expect(window.drawing.alert?.title == "“harbour.large” reports an error")
                #expect(window.texts == ["This is small"])
                window.dismissAlert()
            }
            await window.press("small")
            #expect(window.drawing.alert == nil)
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
            #expect(clash?.code == .screenClash && clash?.message.contains("as `Harbour` does") == true)
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
    func `A screen that nobody uses follows one swap after another`(lanes: LaneRule) async throws {
        try await Harbour.run(lanes: lanes) { harbour in
            let window = try await harbour.app.makeWindow()
            for (edition, word) in [(2, "second"), (1, "first"), (2, "second")] {
                try await harbour.swap(to: edition)
                try await window.first { $0.front?.body.first?.text == "Ships of the \(word) edition" }
            }
            #expect(window.drawing.alert == nil)
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

    /// Runs a host with the first edition, whose windows begin with the list of ships.
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
