/// The unique key of a view in the body of a screen, by which it is found again in a later body.
///
/// The key is the path of the ids of the enclosing views and of the view itself, such as `books/7/borrow`. A view
/// without an id is identified by its place, such as `:0`. A key consists of ASCII characters without spaces, so that
/// it can be part of an id in HTML.
public struct ViewKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The path.
    public let rawValue: String
    /// The path.
    public var description: String { rawValue }

    /// Creates the key with a path, whether or not a view has it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates the key of a view from the key of its parent, and from its own id or place.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - place: The place of the view among its neighbours, from 0.
    ///   - parent: The key of the enclosing view; `nil` for a view of the body itself.
    public init(_ view: View, at place: Int, under parent: ViewKey? = nil) {
        let step = Self.step(to: view, at: place)
        rawValue = parent.map { "\($0.rawValue)/\(step)" } ?? step
    }

    /// Returns views with their keys.
    ///
    /// - Parameters:
    ///   - views: The views of a body, or the children of a view.
    ///   - parent: The key of the enclosing view; `nil` for the views of the body itself.
    public static func children(_ views: [View], under parent: ViewKey? = nil) -> [(view: View, key: ViewKey)] {
        views.enumerated().map { place, view in (view, ViewKey(view, at: place, under: parent)) }
    }

    /// Returns the last part of a key, in which everything but letters, digits, `.`, `_` and `-` is escaped.
    static func step(to view: View, at place: Int) -> String {
        guard !view.id.isEmpty else { return ":\(place)" }
        if view.id.utf8.allSatisfy(\.isPlain) { return view.id }
        var step = ""
        for byte in view.id.utf8 {
            if byte.isPlain {
                step.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                step += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return step
    }
}

extension UInt8 {
    fileprivate var isPlain: Bool {
        switch Unicode.Scalar(self) {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }
}

/// A view of a body, with its place in the body.
public struct FoundView: Sendable, Equatable {
    /// The element of the body that has the key, with all its children.
    public var view: View
    /// The key that identifies the view in the body.
    public var key: ViewKey
    /// The keys of the rows of lists and tables that contain the view, outermost first.
    public var rows: [String]

    fileprivate init(_ view: View, at place: Int, in parent: FoundView?) {
        let isRow = parent?.view.kind == .list || view.kind == .record
        (self.view, key) = (view, ViewKey(view, at: place, under: parent?.key))
        rows = (parent?.rows ?? []) + (isRow ? [view.id.isEmpty ? "\(place)" : view.id] : [])
    }

    /// The views that the view contains.
    package var children: some Sequence<FoundView> { view.children.found(in: self) }

    /// Returns the event that occurs when a person uses the view.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - value: The new value of a field, a choice or a toggle.
    ///   - values: The values of all fields, choices and toggles by their ids.
    /// - Returns: The event; `nil` if the view has no such event or value, is disabled, or is a busy button.
    public func event(_ kind: ViewEvent.Kind, value: String = "", values: [String: String] = [:]) -> ViewEvent? {
        let isPossible =
            switch (view.kind, kind) {
            case (.button, .press): !view.isBusy
            case (.field, .change), (.field, .submit): true
            case (.choice, .change): view.options.contains { $0.value == value }
            case (.toggle, .change): ["true", "false"].contains(value)
            default: false
            }
        guard isPossible, !view.isDisabled else { return nil }
        return ViewEvent(kind, view.id, rows: rows, value: value, values: values)
    }
}

extension [View] {
    /// The views of a body, from which all views in them can be reached.
    package var found: some Sequence<FoundView> { found(in: nil) }

    /// All views of a body, each before the views in it.
    package var allFound: some Sequence<FoundView> {
        sequence(state: found.reversed()) { (waiting: inout [FoundView]) -> FoundView? in
            guard let next = waiting.popLast() else { return nil }
            waiting += next.children.reversed()
            return next
        }
    }

    fileprivate func found(in parent: FoundView?) -> some Sequence<FoundView> {
        enumerated().lazy.map { place, view in FoundView(view, at: place, in: parent) }
    }

    /// Returns the view with a key in a body; `nil` if there is none.
    public func find(_ key: ViewKey) -> FoundView? {
        var views = self, found: FoundView?
        for step in key.rawValue.split(separator: "/", omittingEmptySubsequences: false) {
            guard let place = views.indices.first(where: { ViewKey.step(to: views[$0], at: $0) == step }) else {
                return nil
            }
            found = FoundView(views[place], at: place, in: found)
            views = views[place].children
        }
        return found
    }
}
