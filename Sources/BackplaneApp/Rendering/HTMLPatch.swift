import BackplaneScreens

/// A change of a page, which a script applies to the element with an id.
///
/// Rows of tables are parsed as the content of a `template`.
package struct HTMLPatch: Codable, Sendable, Equatable {
    /// The kind of a patch.
    package enum Kind: String, Codable, Sendable {
        /// The element is replaced with the one in ``HTMLPatch/html``.
        case replace
        /// The content of the element becomes ``HTMLPatch/html``.
        case fill
        /// The element in ``HTMLPatch/html``, in the element ``HTMLPatch/parent``, appears before the element
        /// ``HTMLPatch/before``, or at the end.
        case insert
        case remove
        /// The element moves before another one, or to the end, as for `insert`.
        case move
        /// The element has the attribute `inert` from now on, or no longer.
        case cover, uncover
        /// The title of the page becomes ``HTMLPatch/html``, which is plain text.
        case title
    }
    package var kind: Kind
    /// The id of the element; empty for the title.
    package var id: String
    package var html: String?
    package var parent: String?
    package var before: String?

    init(_ kind: Kind, _ id: String, html: String? = nil, parent: String? = nil, before: String? = nil) {
        (self.kind, self.id, self.html, self.parent, self.before) = (kind, id, html, parent, before)
    }
}

extension HTMLRendering {
    /// Returns the patches that turn the page of one drawing into the page of another, in order.
    ///
    /// - Parameters:
    ///   - old: The drawing that the page shows.
    ///   - new: The drawing that the page is to show.
    package func patches(from old: WindowDrawing, to new: WindowDrawing) -> [HTMLPatch] {
        var patches: [HTMLPatch] = []
        func fill(_ id: String, _ write: (inout HTMLWriter) -> Void) {
            var writer = HTMLWriter()
            write(&writer)
            patches.append(HTMLPatch(.fill, id, html: writer.string))
        }
        if old.front?.heading != new.front?.heading {
            patches.append(HTMLPatch(.title, "", html: new.front?.heading ?? ""))
        }
        if old.isLoading != new.isLoading { fill("activity") { writeActivity(new, to: &$0) } }
        if old.tabs != new.tabs || old.selected != new.selected { fill("tabs") { writeTabs(new, to: &$0) } }
        if let shown = new.screen, let former = old.screen, former.number == shown.number {
            patches += self.patches(from: former, to: shown, isModal: false)
        } else if old.screen != new.screen {
            fill("screen") { html in if let screen = new.screen { writeScreen(screen, to: &html) } }
        }
        if let shown = new.modal, let former = old.modal, former.number == shown.number, former.title == shown.title {
            patches += self.patches(from: former, to: shown, isModal: true)
        } else if old.modal != new.modal {
            fill("modal") { writeModal(new, to: &$0) }
        }
        if old.alert != new.alert { fill("alert") { writeAlert(new, to: &$0) } }
        let covered = old.coveredParts
        for part in ["bar", "screen", "modal"] where covered.contains(part) != new.coveredParts.contains(part) {
            patches.append(HTMLPatch(covered.contains(part) ? .uncover : .cover, part))
        }
        return patches
    }

    /// Returns the patches of a screen that both drawings show.
    private func patches(
        from old: WindowDrawing.Shown, to new: WindowDrawing.Shown, isModal: Bool
    ) -> [HTMLPatch] {
        let changes = ViewDiff.changes(from: old.body, to: new.body)
        var patches = changes.map { patch($0, of: new.number) }
        if (old.title, old.back, old.hasOwnTitle) != (new.title, new.back, new.hasOwnTitle) {
            var writer = HTMLWriter()
            writeHead(new, isModal: isModal, to: &writer)
            patches.insert(HTMLPatch(.fill, "\(new.number)~head", html: writer.string), at: 0)
        }
        return patches
    }

    private func patch(_ change: ViewChange, of screen: Int) -> HTMLPatch {
        let id = Self.id(screen, change.key)
        switch change.kind {
        case .replace(let view): return HTMLPatch(.replace, id, html: html(of: view, id: id, change.place))
        case .remove: return HTMLPatch(.remove, id)
        case .insert(let view, let before):
            return HTMLPatch(
                .insert, id, html: html(of: view, id: id, change.place), parent: parent(of: change, screen),
                before: before.map { Self.id(screen, $0) })
        case .cover(let isCovered): return HTMLPatch(isCovered ? .cover : .uncover, id)
        case .move(let before):
            return HTMLPatch(
                .move, id, parent: parent(of: change, screen), before: before.map { Self.id(screen, $0) })
        }
    }

    /// Returns the id of the element that contains the elements of a view's neighbours.
    private func parent(of change: ViewChange, _ screen: Int) -> String {
        guard let slash = change.key.rawValue.lastIndex(of: "/") else { return "\(screen)" }
        let id = Self.id(screen, ViewKey(rawValue: String(change.key.rawValue[..<slash])))
        if change.place.parent == .table { return id + "~rows" }
        return ViewPlace(parent: change.place.grandparent).isWrapped ? id + "~" : id
    }
}

extension WindowDrawing {
    /// The ids of the parts of a page that cannot be used, because something covers them.
    fileprivate var coveredParts: Set<String> {
        if alert != nil { return ["bar", "screen", "modal"] }
        return modal == nil ? [] : ["bar", "screen"]
    }
}
