import BackplaneScreens
import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `Bodies are compared by keys` {
    private static let titles = (0..<1_000).map { "Book \($0)" }

    private func books(_ titles: [String], _ change: (inout [View]) -> Void = { _ in }) -> [View] {
        var list = List(titles, id: \.self) { title in
            Text(title)
            Button("Borrow", id: "borrow")
        }.id("books")
        change(&list.children)
        return [Heading("Books").view, list]
    }

    private func summary(_ old: [View], _ new: [View]) -> [String] {
        ViewDiff.changes(from: old, to: new).map { change in
            switch change.kind {
            case .replace: "replace \(change.key)"
            case .insert(_, let before): "insert \(change.key) before \(before?.rawValue ?? "nothing")"
            case .remove: "remove \(change.key)"
            case .move(let before): "move \(change.key) before \(before?.rawValue ?? "nothing")"
            case .cover(let isCovered): "\(isCovered ? "cover" : "uncover") \(change.key)"
            }
        }
    }

    // MARK: One change

    @Test func `equal bodies have no changes`() {
        #expect(summary(books(Self.titles), books(Self.titles)) == [])
    }

    @Test func `a changed text of one row in a thousand replaces that text`() {
        let new = books(Self.titles) { $0[500].children[0].text = "Read" }
        #expect(summary(books(Self.titles), new) == ["replace books/Book%20500/:0"])
    }

    @Test func `a busy button is replaced alone`() {
        let new = books(Self.titles) { $0[7].children[1].isBusy = true }
        #expect(summary(books(Self.titles), new) == ["replace books/Book%207/borrow"])
    }

    @Test func `a row is inserted before its neighbour, or at the end`() {
        let titles = ["a", "b", "c"]
        #expect(summary(books(titles), books(["a", "x", "b", "c"])) == ["insert books/x before books/b"])
        #expect(summary(books(titles), books(["x"] + titles)) == ["insert books/x before books/a"])
        #expect(summary(books(titles), books(titles + ["x"])) == ["insert books/x before nothing"])
    }

    @Test func `a row is removed`() {
        #expect(summary(books(["a", "b", "c"]), books(["a", "c"])) == ["remove books/b"])
    }

    @Test func `a row moves alone, however far`() {
        let first = Array(Self.titles[1...]) + [Self.titles[0]], last = [Self.titles[999]] + Self.titles[..<999]
        #expect(summary(books(Self.titles), books(first)) == ["move books/Book%200 before nothing"])
        #expect(summary(books(Self.titles), books(last)) == ["move books/Book%20999 before books/Book%200"])
    }

    @Test func `a record is replaced cell by cell`() {
        func table(_ year: String) -> [View] {
            [
                Table(["Title", "Year"]) {
                    Record(id: "m") {
                        Text("Moby-Dick")
                        Text(year)
                    }
                }.view
            ]
        }
        #expect(summary(table("1850"), table("1851")) == ["replace :0/m/:1"])
    }

    @Test func `views of another kind, and containers that differ themselves, are replaced whole`() {
        let texts = [Text("a").view]
        #expect(summary([View(.column, children: texts)], [View(.row, children: texts)]) == ["replace :0"])
        #expect(summary([Section("A") { texts }.view], [Section("B") { texts }.view]) == ["replace :0"])
    }

    @Test func `views without ids are known by their places`() {
        #expect(summary([Text("a").view, Text("b").view], [Text("a").view]) == ["remove :1"])
        #expect(
            summary([Text("a").view, Text("b").view], [Text("x").view, Text("a").view, Text("b").view])
                == ["insert :2 before nothing", "replace :0", "replace :1"])
    }

    @Test func `what an overlay covers is not replaced when the cover comes and goes`() {
        func overlay(_ cover: [View]) -> [View] {
            [
                Overlay {
                    cover
                } over: {
                    for title in ["a", "b"] { Text(title).id(title) }
                }.view
            ]
        }
        let loader = [ProgressBar("Loading").view]
        #expect(
            summary(overlay([]), overlay(loader))
                == ["insert :0/:0/:0 before nothing", "cover :0/a", "cover :0/b"])
        #expect(summary(overlay(loader), overlay([])) == ["remove :0/:0/:0", "uncover :0/a", "uncover :0/b"])
    }

    // MARK: All changes

    @Test(arguments: 0..<20)
    func `the changes make the one body of the other`(seed: Int) {
        var random = RandomBody(seed: seed)
        for _ in 0..<100 {
            let old = random.body(), new = random.body()
            let changes = ViewDiff.changes(from: old, to: new)
            let node = Node(body: old)
            for change in changes { node.apply(change) }
            #expect(node.outline == Node(body: new).outline, "\(changes)")
        }
    }

    @Test(arguments: 0..<5)
    func `no more children move than must`(seed: Int) {
        var random = RandomBody(seed: seed)
        for _ in 0..<20 {
            let old = Array("abcdefg").map(String.init), new = old.shuffled(using: &random)
            let moves = ViewDiff.changes(from: books(old), to: books(new)).count
            // The others are a longest subsequence in the old order, which is found by trying all of them.
            let longest =
                (0..<128).map { mask in
                    let kept = new.indices.filter { mask >> $0 & 1 == 1 }.map { new[$0] }
                    return kept == kept.sorted() ? kept.count : 0
                }.max() ?? 0
            #expect(moves == 7 - longest)
        }
    }
}

/// A view as a page has it: found by its key, with its children in an order of their own.
private final class Node {
    private let key: String
    private let view: View
    private var isCovered: Bool
    private var children: [Node]

    convenience init(body: [View]) { self.init(View(.column, children: body), "", isCovered: false) }

    private init(_ view: View, _ key: String, isCovered: Bool) {
        var bare = view
        bare.children = []
        (self.key, self.view, self.isCovered) = (key, bare, isCovered)
        children = ViewKey.children(view.children, under: key.isEmpty ? nil : ViewKey(rawValue: key)).enumerated()
            .map { Node($1.view, $1.key.rawValue, isCovered: $0 > 0 && view.isCovering) }
    }

    /// The keys, the views and their order.
    var outline: [String] {
        ["\(key) \(isCovered) \(view)"] + children.flatMap(\.outline)
    }

    func apply(_ change: ViewChange) {
        let key = change.key.rawValue, parent = parent(of: key)
        switch change.kind {
        case .replace(let view):
            parent.children[parent.index(of: key)] = Node(view, key, isCovered: change.place.isCovered)
        case .insert(let view, let before):
            parent.insert(Node(view, key, isCovered: change.place.isCovered), before: before)
        case .remove: parent.children.remove(at: parent.index(of: key))
        case .move(let before): parent.insert(parent.children.remove(at: parent.index(of: key)), before: before)
        case .cover(let isCovered): parent.children[parent.index(of: key)].isCovered = isCovered
        }
    }

    private func insert(_ child: Node, before: ViewKey?) {
        children.insert(child, at: before.map { index(of: $0.rawValue) } ?? children.count)
    }

    private func index(of key: String) -> Int {
        guard let index = children.firstIndex(where: { $0.key == key }) else { fatalError("no view \(key)") }
        return index
    }

    /// Returns the node that contains the one with a key.
    private func parent(of key: String) -> Node {
        guard let slash = key.lastIndex(of: "/") else { return self }
        var node = self
        let path = key[..<slash]
        while node.key != path {
            guard let next = node.children.first(where: { path == $0.key || path.hasPrefix($0.key + "/") }) else {
                fatalError("no view \(path)")
            }
            node = next
        }
        return node
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `Pages are patched` {
    private func patches(_ old: WindowDrawing, _ new: WindowDrawing) -> [HTMLPatch] {
        HTMLRendering.plain.patches(from: old, to: new)
    }

    private func books(_ titles: [String], busy: String = "") -> WindowDrawing {
        .of {
            List(titles, id: \.self) { title in
                Link(title, to: .to("book"))
                Button("Borrow", id: "borrow").busy(title == busy)
            }.id("books")
        }
    }

    @Test func `a changed row in a thousand is one small patch`() throws {
        let titles = (0..<1_000).map { "Book \($0)" }
        let patch = patches(books(titles), books(titles, busy: "Book 500"))
        #expect(patch.map(\.kind) == [.replace] && patch.first?.id == "1/books/Book%20500/borrow")
        #expect((patch.first?.html?.utf8.count ?? .max) < 500)
    }

    @Test func `patches name the element that contains the neighbours`() {
        let inserted = patches(books(["a", "c"]), books(["a", "b", "c"]))
        #expect(inserted.map(\.parent) == ["1/books"] && inserted.map(\.before) == ["1/books/c"])
        #expect(inserted.first?.html?.hasPrefix(#"<li id="1/books/b"><div id="1/books/b~" class="row">"#) == true)
        func row(_ texts: [String]) -> WindowDrawing {
            .of { List { Row { for text in texts { Text(text).id(text) } }.id("r") }.id("l") }
        }
        #expect(patches(row(["a"]), row(["a", "b"])).map(\.parent) == ["1/l/r~"])
        func table(_ ids: [String]) -> WindowDrawing {
            .of { Table(["Title"]) { for id in ids { Record(id: id) { Text(id) } } }.id("t") }
        }
        #expect(patches(table(["a"]), table(["a", "b"])).map(\.parent) == ["1/t~rows"])
        #expect(patches(.of { Text("a").id("a") }, .of {}).map(\.id) == ["1/a"])
        #expect(patches(.of {}, .of { Text("a").id("a") }).map(\.parent) == ["1"])
    }

    @Test func `a title changes with the heading of the page`() {
        let new = patches(.of("A", back: "X") { Text("x") }, .of("B", back: "Y") { Text("x") })
        #expect(new.map(\.kind) == [.title, .fill])
        #expect(new[0].html == "B" && new[1].id == "1~head")
    }

    @Test func `a modal screen covers the page, and an alert covers both`() {
        let modal = WindowDrawing.Shown.of("Borrowed", number: 2) { Text("Until June") }
        let opened = patches(.of { Text("x") }, .of(modal: modal) { Text("x") })
        #expect(opened.map(\.kind) == [.title, .fill, .cover, .cover])
        #expect(opened.map(\.id) == ["", "modal", "bar", "screen"])
        let alert = WindowDrawing.Alert(title: "No", message: "a reason")
        let alerted = patches(.of(modal: modal) { Text("x") }, .of(modal: modal, alert: alert) { Text("x") })
        #expect(alerted.map(\.id) == ["alert", "modal"])
    }

    @Test func `equal drawings have no patches`() {
        #expect(patches(books(["a", "b"]), books(["a", "b"])) == [])
    }

    @Test(arguments: 0..<20)
    func `the patches make the one page of the other`(seed: Int) throws {
        var random = RandomBody(seed: seed)
        var old = drawing(&random)
        let page = try Page(HTMLRendering.plain.content(of: old))
        for _ in 0..<50 {
            let new = drawing(&random)
            for patch in patches(old, new) { try page.apply(patch) }
            #expect(page.outline == (try Page(HTMLRendering.plain.content(of: new)).outline))
            old = new
        }
    }

    private func drawing(_ random: inout RandomBody) -> WindowDrawing {
        let body = random.body(), modalBody = random.body(depth: 1)
        var drawing = WindowDrawing.of(
            ["A", "B"].randomElement(using: &random)!, tabs: ["x", "y"],
            selected: Int.random(in: 0...1, using: &random), back: [nil, "Back"].randomElement(using: &random)!,
            isLoading: Bool.random(using: &random)
        ) { body }
        if Bool.random(using: &random) {
            drawing.modal = .of(["M", "N"].randomElement(using: &random)!, number: 2) { modalBody }
        }
        if Bool.random(using: &random) { drawing.alert = WindowDrawing.Alert(title: "No", message: "a reason") }
        if Bool.random(using: &random) { drawing.screen?.number = 3 }
        return drawing
    }
}
