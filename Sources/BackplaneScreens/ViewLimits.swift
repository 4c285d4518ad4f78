public import Backplane

/// The limits of a screen's body, which protect a host and its windows from faulty screens.
public enum ViewLimits {
    /// The maximum number of views in a body, 10,000.
    public static let count = 10_000
    /// The maximum depth of nested views, 64.
    public static let depth = 64
    /// The maximum number of bytes of all texts in UTF-8, including ids, addresses and inputs, 1,048,576.
    public static let bytes = 1 << 20

    /// Checks the size of a screen's title and body, and that each view has the form of its kind.
    ///
    /// - Throws: `screen.invalid-view`, at the key of the view.
    public static func check(_ body: [View], title: String = "") throws(BackplaneError) {
        var check = ViewCheck(bytes: title.utf8.count)
        try check.visit(body, in: nil, depth: 1)
    }
}

private struct ViewCheck {
    var bytes: Int
    var count = 0

    mutating func visit(_ views: [View], in parent: View?, depth: Int) throws(BackplaneError) {
        guard !views.isEmpty else { return }
        guard depth <= ViewLimits.depth else { throw .invalidView("views are more than \(ViewLimits.depth) deep") }
        var ids = Set<String>()
        for (place, view) in views.enumerated() {
            do throws(BackplaneError) {
                guard view.id.isEmpty || ids.insert(view.id).inserted else {
                    throw .invalidView("two views beside each other have the id `\(view.id)`")
                }
                try check(view, in: parent)
                try visit(view.children, in: view, depth: depth + 1)
            } catch {
                // Built here only, since most views are valid.
                var error = error
                error.location = ViewKey.step(to: view, at: place) + (error.location.map { "/\($0)" } ?? "")
                throw error
            }
        }
    }

    private mutating func check(_ view: View, in parent: View?) throws(BackplaneError) {
        count += 1 + view.options.count
        guard count <= ViewLimits.count else {
            throw .invalidView("there are more than \(ViewLimits.count) views; show a part of them")
        }
        bytes += view.id.utf8.count + view.text.utf8.count + view.value.utf8.count
        bytes += view.prompt.utf8.count + view.problem.utf8.count + view.address.utf8.count
        for option in view.options { bytes += option.value.utf8.count + option.title.utf8.count }
        if let destination = view.destination {
            bytes += destination.screen.utf8.count + destination.input.utf8.count
        }
        guard bytes <= ViewLimits.bytes else {
            throw .invalidView("the texts are longer than \(ViewLimits.bytes) bytes in all; show a part of them")
        }
        if let fraction = view.fraction, !(0...1).contains(fraction) {
            throw .invalidView("a fraction must be from 0 to 1, but is \(fraction)")
        }
        let kind = view.kind.rawValue
        if parent?.kind == .table, view.kind != .record {
            throw .invalidView("a table consists of records, but has a \(kind)")
        }
        switch view.kind {
        case .heading where !(1...3).contains(view.level):
            throw .invalidView("the level of a heading must be 1, 2 or 3, but is \(view.level)")
        case .button, .field, .choice, .toggle:
            if view.id.isEmpty { throw .invalidView("a \(kind) must have an id, since its events name it") }
        case .record:
            guard let parent, parent.kind == .table else { throw .invalidView("a record must be in a table") }
            let cells = view.children.count, columns = parent.options.count
            guard cells == columns else {
                throw .invalidView(
                    "a record must have as many cells as its table has columns, \(columns), but has \(cells)")
            }
        default: break
        }
    }
}

extension BackplaneError {
    fileprivate static func invalidView(_ text: String) -> BackplaneError { BackplaneError(.screenInvalidView, text) }
}
