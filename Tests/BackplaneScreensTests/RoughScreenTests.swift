import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

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
