import Backplane
import BackplaneHost
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneTools

struct ServiceListTests {
    private let list = ServiceList(.books)

    @Test func `services are listed by their contracts, with providers and users`() throws {
        let missing = try #require(list.missingTable)
        let lines = list.table.lines(colour: false) + [""] + missing.lines(colour: false)
        try expectSnapshot(lines.joined(separator: "\n") + "\n", "services-table")
    }

    @Test func `streams are counted beside the contract, and named as JSON`() {
        let services = list.plugins.flatMap(\.components).filter { $0.contract == "BooksAPI" }
        #expect(services.count == 3 && services.allSatisfy { $0.streams == ["events", "text"] })
        #expect(list.table.lines(colour: false).count { $0.contains("BooksAPI 1.0.0 (2 streams)") } == 3)
        #expect(list.plugins.flatMap(\.components).allSatisfy { ($0.streams != nil) == ($0.contract == "BooksAPI") })
    }

    @Test func `routes and screens are listed below the service, each on a line`() {
        #expect(
            ServiceList(.routes).table.lines(colour: false) == [
                "SERVICE           PROVIDED BY          ROLE     PLUGIN                    USED BY",
                "HTTPRoutes 1.0.0  LibraryRoutes 1.0.0  manager  org.example.routes 1.0.0  LibraryRoutes",
                "  GET /books/:id", "  GET /changes",
            ])
        #expect(
            ServiceList(.screens).table.lines(colour: false).suffix(2) == [
                "  books.list", #"  books.page {"book": string, "page": integer?}"#,
            ])
    }

    @Test func `unused classes are marked`() {
        let unused = list.plugins.flatMap(\.components).filter(\.usedBy.isEmpty).map { "\($0.className) \($0.version)" }
        #expect(unused == ["BooksService 2.0.0", "Metronome 1.0.0"])
    }

    @Test func `a manager that cannot be created uses what was chosen for it all the same`() throws {
        let library = try #require(list.plugins.first?.components.first { $0.className == "LibraryManager" })
        #expect(library.usedBy == ["LibraryManager", "ReadingRoomManager", "Upset", "Very upset"])
    }

    @Test func `a wire is missing where nothing is given to it, not where what is given is faulty`() {
        let clocks = list.missing.filter { $0.label == "clock" }
        #expect(clocks.map(\.manager) == ["ReadingRoomManager"])
        #expect(clocks.map(\.candidates) == [["ClockManager 1.0.0 of plugin org.example.clock"]])
        #expect(list.missing.allSatisfy { $0.isOptional })
    }

    @Test func `a plugin that registers nothing is listed too`() {
        let list = ServiceList(
            Composition(
                #"{"manifestVersion": 1, "plugins": [], "managers": {}}"#,
                [ExamplePlugin(id: "org.example.empty", version: "1.0.0", components: [])]))
        #expect(
            list.table.lines(colour: false).last == "-        nothing            org.example.empty 1.0.0  -")
        #expect(list.missingTable == nil)
    }
}
