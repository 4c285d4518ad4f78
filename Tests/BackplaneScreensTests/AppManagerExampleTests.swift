import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Testing

// MARK: Services

/// A day of a journey, with the places that are visited.
struct Day: Sendable {
    struct Stop: Sendable {
        var name: String
        var minutes: Int
    }
    var number: Int
    var title: String
    var stops: [Stop]
}

/// A service of the application, which screens find by its protocol.
protocol Journey: Sendable {
    var days: [Day] { get }
}

extension Journey {
    func day(_ number: Int) throws -> Day {
        guard let day = days.first(where: { $0.number == number }) else { throw NoSuchDay(number: number) }
        return day
    }
}

struct NoSuchDay: ComponentError {
    var number: Int
    var code: String { "journey.no-such-day" }
    var message: String { "the journey has no day \(number)" }
}

struct EdinburghJourney: Journey {
    let days = [
        Day(number: 1, title: "The old harbour", stops: [Day.Stop(name: "Leith", minutes: 90)]),
        Day(
            number: 2, title: "The hill",
            stops: [Day.Stop(name: "Holyrood", minutes: 40), Day.Stop(name: "Arthur's Seat", minutes: 120)]),
    ]
}

/// Another service: the notes of the traveller.
final class Notebook: Sendable {
    private let written = Recording<String>()

    var notes: [String] { written.all }
    func write(_ note: String) { written.add(note) }
}

// MARK: The application

/// An application of six screens in two tabs, which do not know each other.
final class JourneyApp: AppManager, @unchecked Sendable {  // without properties of its own
    /// Creates the application, with its services and screens.
    static func make(_ host: PluginHost) throws -> JourneyApp {
        let app = JourneyApp(host)
        app.register(service: EdinburghJourney())
        app.register(service: Notebook())
        try app.register(screen: DayList.self)
        try app.register(screen: DayMap.self)
        try app.register(screen: StopPage.self)
        try app.register(screen: NoteEditor.self)
        try app.register(screen: NoteList.self)
        try app.register(screen: About.self)
        return app
    }

    override func setup(in window: Window) async throws {
        window.setTabs([
            try await screen(for: "days.list", in: window),
            try await screen(for: "notes.list", in: window),
        ])
    }

    /// Decides how a screen is shown, from its identifier and its source.
    override func show(
        _ screen: WindowScreen, from source: WindowScreen?, identifier: String, in window: Window
    ) async throws {
        switch (identifier, source?.identifier) {
        case ("notes.editor", _): window.present(screen)
        case ("days.map", "days.map"): window.replace(screen)  // the next day takes the place of the day
        default: window.push(screen, onto: source)
        }
    }

    /// Decides what follows when a screen is left.
    override func dismiss(_ screen: WindowScreen, identifier: String, in window: Window) async throws {
        switch identifier {
        case "days.stop": window.popToRoot()
        default: window.remove(screen)
        }
    }
}

// MARK: Screens

/// The list of days.
final class DayList: Screen {
    static let identifier = "days.list"
    let title = "Days"
    private let model: DayListModel

    private init(_ model: DayListModel) { self.model = model }

    static func assemble(with input: Nothing, agent: Agent) throws -> DayList {
        DayList(try DayListModel(agent))
    }

    var body: [View] {
        List(model.days, id: \.number) { day in
            Text(day.title)
            Button("Map", id: "map")
        }
        Button("Day 3", id: "third")
        Link("About", to: "about", ["journey": "Edinburgh"])
    }

    func handle(_ event: ViewEvent) async throws {
        try await model.showMap(of: event.id == "third" ? 3 : Int(event.row) ?? 0)
    }
}

/// What the list of days does. It knows no views, and its agent lets it resolve services and request transitions only.
struct DayListModel: Sendable {
    let days: [Day]
    private let agent: Agent

    init(_ agent: Agent) throws {
        days = try agent.resolve(service: (any Journey).self).days
        self.agent = agent
    }

    /// Requests a screen of which it knows the identifier, and the data with which that is assembled.
    func showMap(of day: Int) async throws { try await agent.performSegue(to: "days.map", data: ["day": day]) }
}

/// The map of a day, which is assembled with the number of the day.
final class DayMap: Screen {
    struct Input: Codable, Sendable { var day: Int }
    static let identifier = "days.map"
    private let day: Day
    private let agent: Agent

    private init(_ day: Day, _ agent: Agent) { (self.day, self.agent) = (day, agent) }

    static func assemble(with input: Input, agent: Agent) throws -> DayMap {
        DayMap(try agent.resolve(service: (any Journey).self).day(input.day), agent)
    }

    var title: String { "Day \(day.number)" }

    var body: [View] {
        Heading(day.title, level: 2)
        Table(["Stop", "Minutes"]) {
            for stop in day.stops {
                Record(id: stop.name) {
                    Button(stop.name, id: "stop")
                    Text("\(stop.minutes)")
                }
            }
        }
        Button("Next day", id: "next")
    }

    func handle(_ event: ViewEvent) async throws {
        if event.id == "next" {
            try await agent.performSegue(to: DayMap.self, data: Input(day: day.number + 1))
        } else {
            try await agent.performSegue(to: "days.stop", data: StopPage.Input(name: event.row))
        }
    }
}

/// A place that is visited.
final class StopPage: Screen {
    struct Input: Codable, Sendable { var name: String }
    static let identifier = "days.stop"
    let title: String
    private let agent: Agent

    private init(_ name: String, _ agent: Agent) { (title, self.agent) = (name, agent) }

    static func assemble(with input: Input, agent: Agent) -> StopPage { StopPage(input.name, agent) }

    var body: [View] {
        Button("Write a note", id: "note")
        Button("Done", id: "done")
    }

    func handle(_ event: ViewEvent) async throws {
        if event.id == "done" { return try await agent.dismiss() }
        try await agent.performSegue(to: "notes.editor", data: ["about": title])
    }
}

/// A form for a note.
final class NoteEditor: Screen {
    struct Input: Codable, Sendable { var about: String }
    static let identifier = "notes.editor"
    let title = "A note"
    private let input: Input
    private let notebook: Notebook
    private let agent: Agent

    private init(_ input: Input, _ notebook: Notebook, _ agent: Agent) {
        (self.input, self.notebook, self.agent) = (input, notebook, agent)
    }

    static func assemble(with input: Input, agent: Agent) throws -> NoteEditor {
        NoteEditor(input, try agent.resolve(service: Notebook.self), agent)
    }

    var body: [View] {
        Field("About \(input.about)", id: "text")
        Button("Save", id: "save")
    }

    func handle(_ event: ViewEvent) async throws {
        guard event.id == "save" else { return }
        notebook.write("\(input.about): \(event.values["text"] ?? "")")
        try await agent.dismiss()
    }
}

/// The notes, on a tab of their own.
final class NoteList: Screen {
    static let identifier = "notes.list"
    let title = "Notes"
    private let notebook: Notebook

    private init(_ notebook: Notebook) { self.notebook = notebook }

    static func assemble(with input: Nothing, agent: Agent) throws -> NoteList {
        NoteList(try agent.resolve(service: Notebook.self))
    }

    var body: [View] {
        for note in notebook.notes { Text(note) }
        Button("Refresh", id: "refresh")
    }
}

/// A page of which nobody knows more than the identifier.
final class About: Screen {
    struct Input: Codable, Sendable { var journey: String }
    static let identifier = "about"
    let title = "About"
    private let input: Input

    private init(_ input: Input) { self.input = input }

    static func assemble(with input: Input, agent: Agent) -> About { About(input) }

    var body: [View] { Text("A journey through \(input.journey)") }
}

// MARK: Tests

/// The application as a person uses it.
@Suite(.timeLimit(.minutes(5)))
struct AppManagerExampleTests {
    private func run(_ body: (TestWindow) async throws -> Void) async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            try await body(try await TestWindow(try JourneyApp.make(host.host)))
        }
    }

    @Test func `a window begins with two tabs`() async throws {
        try await run { window in
            #expect(
                window.text == """
                    (Days)  Notes
                    # Days
                    • The old harbour  [ Map ]
                    • The hill  [ Map ]
                    [ Day 3 ]
                    About →
                    """)
            try await window.select(tab: "Notes")
            #expect(
                window.text == """
                    Days  (Notes)
                    # Notes
                    [ Refresh ]
                    """)
        }
    }

    @Test func `the map of a day is assembled with its data`() async throws {
        try await run { window in
            try await window.press("Map", in: "2")
            #expect(
                window.text == """
                    (Days)  Notes
                    ‹ Days
                    # Day 2
                    ## The hill
                    Stop               Minutes
                    [ Holyrood ]       40
                    [ Arthur's Seat ]  120
                    [ Next day ]
                    """)
            try await window.goBack()
            #expect(window.window.drawing.screen?.identifier == "days.list")
        }
    }

    @Test func `the application decides from the source how a screen is shown`() async throws {
        try await run { window in
            try await window.press("Map", in: "1")
            try await window.press("Next day")
            let screen = window.window.drawing.screen
            #expect(screen?.title == "Day 2" && screen?.back == "Days", "it replaces the first day")
        }
    }

    @Test func `a note is modal, reaches the other tab by a service, and the stop is left for the list`() async throws {
        try await run { window in
            try await window.press("Map", in: "2")
            try await window.press("Holyrood")
            #expect(window.window.drawing.screen?.back == "Day 2")
            try await window.press("Write a note")
            #expect(window.window.drawing.modal?.identifier == "notes.editor")
            try await window.enter("rain", in: "About Holyrood")
            try await window.press("Save")
            #expect(window.window.drawing.modal == nil && window.window.drawing.screen?.title == "Holyrood")
            try await window.press("Done")
            #expect(window.window.drawing.screen?.identifier == "days.list")
            try await window.select(tab: "Notes")
            try await window.press("Refresh")
            #expect(window.text.contains("Holyrood: rain"))
        }
    }

    @Test func `a link leads to a screen of which only the identifier is known`() async throws {
        try await run { window in
            try await window.follow("About")
            #expect(window.text.hasSuffix("# About\nA journey through Edinburgh"))
        }
    }

    @Test func `a screen that cannot be assembled is not shown, and an alert has the reason`() async throws {
        try await run { window in
            try await window.press("Day 3")
            let drawing = window.window.drawing
            #expect(drawing.screen?.identifier == "days.list" && drawing.modal == nil)
            #expect(drawing.alert?.message == "the journey has no day 3")
            try window.dismissAlert()
            try await window.press("Map", in: "1")
            #expect(window.window.drawing.screen?.title == "Day 1")
        }
    }
}
