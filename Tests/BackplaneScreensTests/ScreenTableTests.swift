import Backplane
import BackplaneScreens
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Tables of screens` {
    private func table(_ define: (inout ScreenTable) -> Void) -> ScreenTable {
        var table = ScreenTable()
        define(&table)
        return table
    }

    @Test func `a screen has its own identifier, or another one`() {
        let table = table {
            $0.add(Lamp.self)
            $0.add(Lamp.self, as: "lamp.red")
        }
        #expect(table.entries.map(\.identifier) == ["lamp", "lamp.red"])
        #expect(table.problems.isEmpty)
        #expect(table["lamp.red"] != nil)
        #expect(table["lamp.blue"] == nil)
    }

    @Test func `the second screen with an identifier is a problem`() {
        let table = table {
            $0.add(Lamp.self)
            $0.add(Lamp.self)
        }
        #expect(table.entries.count == 1)
        #expect(table.problems == ["two screens have the identifier `lamp`"])
    }

    @Test(arguments: ["", "a b", "a/b", "a\n", String(repeating: "x", count: 201)])
    func `a text that is no identifier is a problem`(identifier: String) {
        let table = table { $0.add(Lamp.self, as: identifier) }
        #expect(table.entries.isEmpty)
        #expect(table.problems.count == 1)
    }

    @Test func `a class lists its screens and their mistakes`() throws {
        let json = try #require(LampScreens.annotation)
        #expect(
            json == #"{"problems":["two screens have the identifier `lamp`"],"screens":[{"identifier":"lamp"}]}"#)
        let annotation = try ScreenAnnotation(json: json)
        #expect(annotation.screens.map(\.identifier) == ["lamp"])
        #expect(annotation.problems?.count == 1)
        let sound = ScreenAnnotation(of: table { $0.add(Lamp.self) })
        #expect(sound.json == #"{"screens":[{"identifier":"lamp"}]}"#)
        let dimmed = ScreenAnnotation(of: table { $0.add(DimmedLamp.self) })
        #expect(try ScreenAnnotation(json: #require(dimmed.json)).screens.first?.input?.hasPrefix("state: ") == true)
        #expect(throws: BackplaneError.self) { try ScreenAnnotation(json: #"{"routes":[]}"#) }
    }
}

private final class LampScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) {
        table.add(Lamp.self)
        table.add(Lamp.self)
    }
}

private final class Lamp: Screen {
    static let identifier = "lamp"

    init() {}

    static func assemble(with input: Nothing, agent: Agent) async throws -> Lamp { Lamp() }

    var body: [View] { Text("A lamp") }
}

private final class DimmedLamp: Screen {
    struct Input: Codable, Sendable {
        var brightness: Int
    }
    static let identifier = "lamp.dimmed"

    static func assemble(with input: Input, agent: Agent) async throws -> DimmedLamp { DimmedLamp() }

    var body: [View] { Text("A lamp") }
}
