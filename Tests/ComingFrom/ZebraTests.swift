import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Testing

/// Zebra's README: services and screens of a program, an overridden manager, and six screens in two tabs.
@Suite(.timeLimit(.minutes(1)))
struct `Screens of Zebra's README` {
    private func makeManager(of host: PluginHost) throws -> MainAppManager {
        let manager = MainAppManager(host)

        let database = MainDatabase()
        let locationDataStore = LocationDataStore(database: database)
        manager.register(service: LocationService(locationDataStore: locationDataStore))

        try manager.register(screen: DayLocationRecordsScreen.self)
        try manager.register(screen: DayMapScreen.self)
        try manager.register(screen: LocationRecordScreen.self)
        try manager.register(screen: MainLocationRecordsScreen.self)
        try manager.register(screen: TrackingProfilesScreen.self)
        try manager.register(screen: TrackingProfileEditorScreen.self)
        return manager
    }

    @Test func `a window has two tabs`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let window = try await TestWindow(try makeManager(of: host.host))
            #expect(
                window.text == """
                    (Records)  Profile
                    # Records
                    • 2026-11-12 →
                    • 2026-11-13 →
                    """)
            try await window.select(tab: "Profile")
            #expect(window.text.hasPrefix("Records  (Profile)\n# Profile\n"))
            try await window.follow("All profiles")
            #expect(window.text == "Records  (Profile)\n‹ Profile\n# Profiles\n• Walking\n• Cycling")
        }
    }

    @Test func `the map shows its day, and opens the editor, from which one goes back`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let window = try await TestWindow(try makeManager(of: host.host))
            try await window.follow("2026-11-12")
            try await window.follow("Leith")
            #expect(window.text.hasSuffix("‹ 2026-11-12\n# Leith\n2026-11-12, 08:10"))
            try await window.goBack()
            try await window.follow("Map")
            let map = """
                (Records)  Profile
                ‹ 2026-11-12
                # Map of 2026-11-12
                Time   Place
                08:10  Leith
                13:30  Holyrood
                [ Edit the profile ]
                """
            #expect(window.text == map)
            try await window.press("Edit the profile")
            #expect(window.text.hasPrefix("(Records)  Profile\n‹ Map of 2026-11-12\n# Profile\n"))
            try await window.goBack()
            #expect(window.text == map)
        }
    }

    @Test func `a map without a month is not shown, and the error names what is missing`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let window = try await TestWindow(try makeManager(of: host.host))
            let error = await #expect(throws: BackplaneError.self) {
                try await window.window.open(try Destination("dayMap", ["day": 12]))
            }
            #expect(error?.code == .screenInvalidInput && error?.location == "/yearMonth")
            #expect(error?.message.hasSuffix("`yearMonth` is missing") == true)
        }
    }

    @Test func `a window whose set-up fails is not opened`() async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let manager = MainAppManager(host.host)
            try manager.register(screen: MainLocationRecordsScreen.self)
            let error = await #expect(throws: BackplaneError.self) { try await manager.makeWindow() }
            #expect(error?.code == .unknownService && error?.message.contains("LocationService") == true)
        }
    }
}

// MARK: The application

private final class MainAppManager: AppManager, @unchecked Sendable {  // without variables of its own
    override func setup(in window: Window) async throws {
        let records = try await screen(for: "mainLocationRecords", in: window)
        let editor = try await screen(for: "trackingProfileEditor", in: window)
        window.setTabs([records, editor])
    }

    override func show(
        _ screen: WindowScreen, from source: WindowScreen?, identifier: String, in window: Window
    ) async throws {
        window.push(screen, onto: source)
    }

    override func dismiss(_ screen: WindowScreen, identifier: String, in window: Window) async throws {
        window.remove(screen)
    }
}

// MARK: Services

private struct Day: Codable, Sendable, Hashable, CustomStringConvertible {
    var yearMonth: Int, day: Int
    var description: String { "\(yearMonth / 100)-\(yearMonth % 100)-\(day)" }
}

private struct LocationRecord: Codable, Sendable, Identifiable {
    var id: Int, day: Day, time: String, place: String
}

private struct MainDatabase: Sendable {
    let days = [12, 13].map { Day(yearMonth: 202611, day: $0) }
    let records = [
        LocationRecord(id: 1, day: Day(yearMonth: 202611, day: 12), time: "08:10", place: "Leith"),
        LocationRecord(id: 2, day: Day(yearMonth: 202611, day: 12), time: "13:30", place: "Holyrood"),
        LocationRecord(id: 3, day: Day(yearMonth: 202611, day: 13), time: "10:00", place: "Portobello"),
    ]
}

private struct LocationDataStore: Sendable {
    let database: MainDatabase

    var days: [Day] { database.days }
    func records(of day: Day) -> [LocationRecord] { database.records.filter { $0.day == day } }
}

private struct LocationService: Sendable {
    let locationDataStore: LocationDataStore

    var days: [Day] { locationDataStore.days }
    func records(of day: Day) -> [LocationRecord] { locationDataStore.records(of: day) }
}

// MARK: Screens

private final class MainLocationRecordsScreen: Screen {
    static let identifier = "mainLocationRecords"
    let title = "Records"
    private let days: [Day]

    private init(_ days: [Day]) { self.days = days }

    static func assemble(with input: Nothing, agent: Agent) throws -> MainLocationRecordsScreen {
        MainLocationRecordsScreen(try agent.resolve(service: LocationService.self).days)
    }

    var body: [View] {
        List(days, id: \.self) { day in Link(day.description, to: "dayLocationRecords", day) }
    }
}

private final class DayLocationRecordsScreen: Screen {
    static let identifier = "dayLocationRecords"
    private let day: Day, records: [LocationRecord]

    private init(_ day: Day, _ records: [LocationRecord]) { (self.day, self.records) = (day, records) }

    static func assemble(with input: Day, agent: Agent) throws -> DayLocationRecordsScreen {
        DayLocationRecordsScreen(input, try agent.resolve(service: LocationService.self).records(of: input))
    }

    var title: String { day.description }

    var body: [View] {
        List(records) { record in Link(record.place, to: "locationRecord", record) }
        Link("Map", to: "dayMap", ["yearMonth": day.yearMonth, "day": day.day])
    }
}

private final class LocationRecordScreen: Screen {
    static let identifier = "locationRecord"
    private let record: LocationRecord

    private init(_ record: LocationRecord) { self.record = record }

    static func assemble(with input: LocationRecord, agent: Agent) -> LocationRecordScreen {
        LocationRecordScreen(input)
    }

    var title: String { record.place }
    var body: [View] { Text("\(record.day), \(record.time)") }
}

private final class TrackingProfilesScreen: Screen {
    static let identifier = "trackingProfiles"
    let title = "Profiles"

    static func assemble(with input: Nothing, agent: Agent) -> TrackingProfilesScreen { TrackingProfilesScreen() }

    var body: [View] { List(["Walking", "Cycling"], id: \.self) { profile in Text(profile) } }
}

private actor TrackingProfileEditorScreen: Screen {
    static let identifier = "trackingProfileEditor"
    let title = "Profile"
    private var isPrecise = false

    static func assemble(with input: Nothing, agent: Agent) -> TrackingProfileEditorScreen {
        TrackingProfileEditorScreen()
    }

    var body: [View] {
        Toggle("Precise", id: "precise", isOn: isPrecise)
        Link("All profiles", to: "trackingProfiles")
    }

    func handle(_ event: ViewEvent) { isPrecise = event.value == "true" }
}

private final class DayMapScreen: Screen {
    struct Input: Codable, Sendable {
        var yearMonth: Int
        var day: Int
    }
    static let identifier = "dayMap"
    private let day: Day, locationService: LocationService, agent: Agent

    private init(_ day: Day, _ locationService: LocationService, _ agent: Agent) {
        (self.day, self.locationService, self.agent) = (day, locationService, agent)
    }

    static func assemble(with input: Input, agent: Agent) throws -> DayMapScreen {
        let locationService = try agent.resolve(service: LocationService.self)
        return DayMapScreen(Day(yearMonth: input.yearMonth, day: input.day), locationService, agent)
    }

    var title: String { "Map of \(day)" }

    var body: [View] {
        Table(["Time", "Place"]) {
            for record in locationService.records(of: day) {
                Record(id: "\(record.id)") {
                    Text(record.time)
                    Text(record.place)
                }
            }
        }
        Button("Edit the profile", id: "edit")
    }

    func handle(_ event: ViewEvent) async throws { try await agent.performSegue(to: "trackingProfileEditor") }
}
