import Backplane
import BackplaneScreens
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `What a screen shows is checked` {
    private func error(title: String = "", @ViewBuilder _ views: () -> [View]) -> BackplaneError? {
        do throws(BackplaneError) { try ViewLimits.check(views(), title: title) } catch { return error }
        return nil
    }

    private func nested(_ depth: Int) -> View {
        (1..<depth).reduce(Text("deep").view) { view, _ in View(.column, children: [view]) }
    }

    @Test func `a body within the limits is valid`() {
        #expect(error {} == nil)
        #expect(error { for number in 0..<ViewLimits.count { Text("\(number)") } } == nil)
        #expect(error { nested(ViewLimits.depth) } == nil)
        #expect(error { Text(String(repeating: "x", count: ViewLimits.bytes)) } == nil)
        #expect(error { for fraction in [0, 0.5, 1] { ProgressBar(fraction: fraction) } } == nil)
        // One id in different rows.
        #expect(error { List([1, 2], id: \.self) { Button("\($0)", id: "press").disabled() } } == nil)
    }

    @Test func `a body beyond the limits is refused`() {
        #expect(error { for number in 0...ViewLimits.count { Text("\(number)") } }?.code == .screenInvalidView)
        let deep = error { nested(ViewLimits.depth + 1) }
        #expect(deep?.message == "views are more than 64 deep")
        #expect(deep?.location == Array(repeating: ":0", count: ViewLimits.depth).joined(separator: "/"))
        let long = String(repeating: "ä", count: ViewLimits.bytes / 2)
        #expect(error { Text(long) } == nil)
        #expect(error { Text(long).id("x") }?.location == "x")
        #expect(error(title: "x") { Text(long) }?.code == .screenInvalidView)
        #expect(error { Link(long, address: "x") }?.code == .screenInvalidView)
        #expect(error { Choice("", id: "c", value: "", options: [View.Option(long)]) }?.code == .screenInvalidView)
        #expect(error { Link("", to: "x", long) }?.code == .screenInvalidView)
    }

    @Test func `neighbours with one id are named`() {
        let error = error {
            Section("Books") {
                Text("a").id("x")
                Text("b").id("y")
                Text("c").id("x")
            }.id("books")
        }
        #expect(error?.code == .screenInvalidView)
        #expect(error?.message == "two views beside each other have the id `x`")
        #expect(error?.location == "books/x")
    }

    @Test(arguments: [-0.1, 1.1, Double.nan, Double.infinity])
    func `a fraction is from 0 to 1`(fraction: Double) {
        let error = error { Row { ProgressBar(fraction: fraction) } }
        #expect(error?.message == "a fraction must be from 0 to 1, but is \(fraction)")
        #expect(error?.location == ":0/:0")
    }

    @Test(arguments: [(0, false), (1, true), (3, true), (4, false)])
    func `a heading has the level 1, 2 or 3`(level: Int, isValid: Bool) {
        #expect((error { Heading("Books", level: level) } == nil) == isValid)
    }

    @Test func `a table consists of records with a cell for each column`() {
        let record = Record(id: "7") { Text("Moby-Dick") }
        #expect(error { Table(["Title"]) { record } } == nil)
        #expect(error { Table(["Title", "Year"]) { record } }?.location == ":0/7")
        #expect(error { Table(["Title"]) { Button("Borrow", id: "borrow") } }?.location == ":0/borrow")
        #expect(error { List { record } }?.message == "a record must be in a table")
    }

    @Test func `a control has an id`() {
        let controls: [any ViewElement] = [
            Button("", id: ""), Field("", id: ""), Toggle("", id: "", isOn: true),
            Choice("", id: "", value: "", options: []),
        ]
        for control in controls {
            #expect(error { control.view }?.code == .screenInvalidView)
            #expect(error { control.id("x") } == nil)
        }
    }
}
