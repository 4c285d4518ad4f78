import Backplane
import BackplaneScreens
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Views are found by their keys` {
    @ViewBuilder private var body: [View] {
        Heading("Books")
        Field("Filter", id: "filter")
        List(["7", "a/b c"], id: \.self) { book in
            Text(book)
            Button("Borrow", id: "borrow")
            List([1, 2], id: \.self) { Toggle("\($0)", id: "read", isOn: true) }
        }.id("books")
        Table(["Title"]) { Record(id: "r") { Button("Sort", id: "sort") } }
        Choice("Sort", id: "sort", value: "t", options: [View.Option("t"), View.Option("y")])
        Row { Text("plain") }
    }

    /// Returns all keys, in the order of the views.
    private func keys(_ views: [View], under parent: ViewKey? = nil) -> [ViewKey] {
        ViewKey.children(views, under: parent).flatMap { view, key in [key] + keys(view.children, under: key) }
    }

    @Test func `a key is the path of ids and places`() {
        #expect(
            keys(body).map(\.rawValue) == [
                ":0", "filter", "books", "books/7", "books/7/:0", "books/7/borrow", "books/7/:2", "books/7/:2/1",
                "books/7/:2/1/read", "books/7/:2/2", "books/7/:2/2/read", "books/a%2Fb%20c", "books/a%2Fb%20c/:0",
                "books/a%2Fb%20c/borrow", "books/a%2Fb%20c/:2", "books/a%2Fb%20c/:2/1", "books/a%2Fb%20c/:2/1/read",
                "books/a%2Fb%20c/:2/2", "books/a%2Fb%20c/:2/2/read", ":3", ":3/r", ":3/r/sort", "sort", ":5", ":5/:0",
            ])
    }

    @Test func `two views have different keys, whatever their ids are`() {
        let ids = [
            "", ":0", ":1", "%3A0", "a/b", "a", "a%2Fb", "b", "/", "%", " ", "ä", "a\u{301}", "\n", "<b>", "\"", "🐋",
        ]
        let children = ids.map { Text($0).id($0) }
        let views = ids.map { View(.column, id: $0, children: children) }
        let keys = keys(views)
        #expect(Set(keys).count == ids.count * (ids.count + 1))
        for key in keys {
            #expect(key.rawValue.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>\"'&".utf8.contains($0) })
        }
        for (view, key) in ViewKey.children(views) { #expect(views.find(key)?.view == view) }
    }

    @Test func `a view is found with the rows that contain it`() throws {
        let body = body
        for key in keys(body) { #expect(body.find(key) != nil, "\(key)") }
        let inner = try #require(body.find(ViewKey(rawValue: "books/a%2Fb%20c/:2/2/read")))
        #expect(inner.view.text == "2")
        #expect(inner.rows == ["a/b c", "2"])
        #expect(body.find(ViewKey(rawValue: ":3/r/sort"))?.rows == ["r"])
        #expect(body.find(ViewKey(rawValue: "sort"))?.rows == [])
        let unnamed = [View(.list, children: [Text("a").view, Text("b").view])]
        #expect(unnamed.find(ViewKey(rawValue: ":0/:1"))?.rows == ["1"])
    }

    @Test(arguments: [
        "", "/", ":9", ":", ":x", ":-1", ":1", "books/8", "books//7", "books/7/", "/books", "books/a/b c",
        "books/a%2fb%20c", "filter/:0", ":0\u{301}", String(repeating: ":0/", count: 10_000),
    ])
    func `no other key is found`(key: String) {
        #expect(body.find(ViewKey(rawValue: key)) == nil)
    }

    @Test func `a view has the events of its kind`() throws {
        let body = body
        func event(_ key: String, _ kind: ViewEvent.Kind, _ value: String = "") throws -> ViewEvent? {
            try #require(body.find(ViewKey(rawValue: key))).event(kind, value: value, values: ["filter": "f"])
        }
        #expect(
            try event("books/7/borrow", .press)
                == ViewEvent(.press, "borrow", rows: ["7"], values: ["filter": "f"]))
        #expect(try event("books/7/borrow", .change) == nil)
        #expect(try event("filter", .change, "w")?.value == "w")
        #expect(try event("filter", .submit, "w")?.kind == .submit)
        #expect(try event("filter", .press) == nil)
        #expect(try event("sort", .change, "y")?.value == "y")
        #expect(try event("sort", .change, "z") == nil)
        #expect(try event("books/7/:2/1/read", .change, "false")?.row == "1")
        #expect(try event("books/7/:2/1/read", .change, "on") == nil)
        #expect(try event(":0", .press) == nil)
    }

    @Test func `a disabled view has no events, and neither has a busy button`() {
        let views = [Button("Borrow", id: "borrow").disabled(), Button("Return", id: "return").busy()]
        #expect(views.map { [$0].find(ViewKey(rawValue: $0.id))?.event(.press) } == [nil, nil])
    }

    @Test func `all views of a body are found in their order, with their keys and rows`() {
        let body = body, all = Array(body.allFound)
        #expect(all.map(\.key) == keys(body))
        for view in all { #expect(body.find(view.key) == view) }
    }
}
