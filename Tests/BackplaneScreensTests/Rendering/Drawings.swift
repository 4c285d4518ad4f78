import BackplaneScreens

@testable import BackplaneApp

extension WindowDrawing {
    /// Returns the drawing of a window whose screen has the number 1.
    static func of(
        _ title: String = "Books", tabs: [String] = [], selected: Int = 0, back: String? = nil, modal: Shown? = nil,
        alert: Alert? = nil, isLoading: Bool = false, @ViewBuilder _ body: () -> [View]
    ) -> WindowDrawing {
        WindowDrawing(
            revision: 1, tabs: tabs.map { Tab(identifier: $0, title: $0) }, selected: selected,
            screen: .of(title, number: 1, back: back, body), modal: modal, alert: alert, isLoading: isLoading)
    }
}

extension WindowDrawing.Shown {
    static func of(
        _ title: String, number: Int, back: String? = nil, @ViewBuilder _ body: () -> [View]
    ) -> WindowDrawing.Shown {
        WindowDrawing.Shown(
            number: number, identifier: title, destination: .to(title), title: title, body: body(), revision: 1,
            back: back)
    }
}

extension Destination {
    /// Returns the destination of a screen without an input.
    static func to(_ screen: String) -> Destination {
        do { return try Destination(screen) } catch { fatalError("\(error)") }
    }
}

/// A generator of random bodies within the limits of views, with few texts and ids, so that bodies resemble each other.
struct RandomBody: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) { state = 0x9E37_79B9_7F4A_7C15 &* UInt64(seed + 1) }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func body(depth: Int = 3) -> [View] {
        var ids = (0..<8).map { "k\($0)" }.shuffled(using: &self)
        return (0..<Int.random(in: 0...5, using: &self)).map { _ in
            var view = self.view(depth: depth)
            let needsID = [.button, .field, .choice, .toggle].contains(view.kind)
            if needsID || Bool.random(using: &self) { view.id = ids.removeLast() }
            return view
        }
    }

    private mutating func view(depth: Int) -> View {
        let leaves: [View.Kind] = [.text, .heading, .field, .choice, .toggle, .button, .link, .progress, .image]
        let containers: [View.Kind] = [.column, .row, .section, .list, .table, .overlay]
        let kind = (depth > 0 && Bool.random(using: &self) ? containers : leaves).randomElement(using: &self)!
        var view = View(kind, text: ["", "鯨 & <b>", "a"].randomElement(using: &self)!)
        switch kind {
        case .table:
            view.options = [View.Option("Title"), View.Option("Year")]
            view.children = (0..<Int.random(in: 0...3, using: &self)).map { number in
                var cells = [self.view(depth: depth - 1), self.view(depth: 0)]
                for index in cells.indices { cells[index].id = "c\(index)" }
                return View(.record, id: "r\(number)", children: cells)
            }.shuffled(using: &self)
        case .column, .row, .section, .list, .overlay: view.children = body(depth: depth - 1)
        case .heading: view.level = Int.random(in: 1...3, using: &self)
        case .progress: view.fraction = [nil, 0, 0.5].randomElement(using: &self)!
        case .choice: (view.options, view.value) = ([View.Option("x"), View.Option("y", "Y")], "y")
        case .link: view.destination = Bool.random(using: &self) ? .to("page") : nil
        default: view.isDisabled = Bool.random(using: &self)
        }
        return view
    }
}
