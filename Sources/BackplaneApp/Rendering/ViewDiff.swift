package import BackplaneScreens

/// A change of a body; changes are applied in order, by the keys that views have in the old body or the new one.
package struct ViewChange: Sendable, Equatable {
    /// The kind of a change.
    package enum Kind: Sendable, Equatable {
        /// The view, with its contents, becomes another one.
        case replace(View)
        /// A view appears before another one with the same parent, or as the last one.
        case insert(View, before: ViewKey?)
        /// The view disappears.
        case remove
        /// The unchanged view moves before another one with the same parent, or to the end.
        case move(before: ViewKey?)
        /// The first child of an overlay covers the view from now on, or no longer.
        case cover(Bool)
    }
    /// The key of the view.
    package var key: ViewKey
    package var kind: Kind
    /// The surroundings of the view.
    package var place: ViewPlace
}

/// The surroundings of a view, as far as its appearance depends on them.
package struct ViewPlace: Sendable, Equatable {
    /// The kinds of the views around it, the inner and the next outer one; `column` for the body.
    package var parent = View.Kind.column, grandparent = View.Kind.column
    /// The number of sections that contain it.
    package var sections = 0
    /// A Boolean value that indicates whether a neighbour covers it.
    package var isCovered = false

    /// Returns the place of a child of a view that is at this place.
    func place(ofChild index: Int, in view: View) -> ViewPlace {
        ViewPlace(
            parent: view.kind, grandparent: parent, sections: sections + (view.kind == .section ? 1 : 0),
            isCovered: index > 0 && view.isCovering)
    }
}

extension View {
    /// A Boolean value that indicates whether the first child covers the others, as it does unless it is empty.
    package var isCovering: Bool {
        guard kind == .overlay, let cover = children.first else { return false }
        return ![.column, .row].contains(cover.kind) || !cover.children.isEmpty
    }
}

/// The comparison of two bodies of a screen.
///
/// Views with equal keys are compared child by child; a view whose own members differ is replaced. The time is linear
/// in the number of views, apart from the order of children that have moved.
package struct ViewDiff {
    private var changes: [ViewChange] = []
    /// The ids and places of the views that contain the compared views.
    private var path: [(id: String, place: Int)] = []

    /// Returns the changes that turn one body into another.
    package static func changes(from old: [View], to new: [View]) -> [ViewChange] {
        var diff = ViewDiff()
        diff.compare(old, new) { _ in ViewPlace() }
        return diff.changes
    }

    private mutating func compare(_ old: [View], _ new: [View], _ place: (_ child: Int) -> ViewPlace) {
        var start = 0, oldEnd = old.count, newEnd = new.count
        while start < min(oldEnd, newEnd), old[start].id == new[start].id { start += 1 }
        while oldEnd > start, newEnd > start, Self.isSame(old, oldEnd - 1, new, newEnd - 1) {
            (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
        }
        let former = arrange(old, start..<oldEnd, new, start..<newEnd, place)
        for index in new.indices {
            switch index {
            case ..<start: compare(old[index], new[index], at: index, place(index))
            case newEnd...: compare(old[index - newEnd + oldEnd], new[index], at: index, place(index))
            default:
                guard let former = former[index - start] else { continue }
                compare(old[former], new[index], at: index, place(index))
            }
        }
    }

    private mutating func compare(_ old: View, _ new: View, at index: Int, _ place: ViewPlace) {
        let hasSameCover = new.kind != .overlay || old.children.first?.id == new.children.first?.id
        guard old.isEqual(exceptForChildren: new), hasSameCover else {
            changes.append(ViewChange(key: key(of: new, at: index), kind: .replace(new), place: place))
            return
        }
        path.append((new.id, index))
        compare(old.children, new.children) { place.place(ofChild: $0, in: new) }
        if old.isCovering != new.isCovering {
            for (index, child) in new.children.enumerated().dropFirst() {
                changes.append(
                    ViewChange(
                        key: key(of: child, at: index), kind: .cover(new.isCovering),
                        place: place.place(ofChild: index, in: new)))
            }
        }
        path.removeLast()
    }

    /// Returns whether two children have the same key.
    private static func isSame(_ old: [View], _ oldIndex: Int, _ new: [View], _ newIndex: Int) -> Bool {
        old[oldIndex].id == new[newIndex].id && (!new[newIndex].id.isEmpty || oldIndex == newIndex)
    }

    /// Removes, inserts and moves children.
    ///
    /// - Returns: For each new child of the range, its place among the old ones; `nil` if it was inserted.
    private mutating func arrange(
        _ old: [View], _ oldRange: Range<Int>, _ new: [View], _ newRange: Range<Int>,
        _ place: (_ child: Int) -> ViewPlace
    ) -> [Int?] {
        guard !oldRange.isEmpty || !newRange.isEmpty else { return [] }
        var byID: [String: Int] = [:]
        for index in oldRange where !old[index].id.isEmpty { byID[old[index].id] = index }
        let former = newRange.map { index -> Int? in
            guard new[index].id.isEmpty else { return byID.removeValue(forKey: new[index].id) }
            return oldRange.contains(index) && old[index].id.isEmpty ? index : nil
        }
        let kept = Set(former.compactMap(\.self))
        for index in oldRange where !kept.contains(index) {
            changes.append(
                ViewChange(key: key(of: old[index], at: index), kind: .remove, place: place(index)))
        }
        // From the last one, so that the neighbour before which a child is placed is already in its place.
        let staying = Self.longestIncrease(former)
        for index in newRange.reversed() where !staying.contains(index - newRange.lowerBound) {
            let next = index + 1 < new.count ? key(of: new[index + 1], at: index + 1) : nil
            let isNew = former[index - newRange.lowerBound] == nil
            changes.append(
                ViewChange(
                    key: key(of: new[index], at: index),
                    kind: isNew ? .insert(new[index], before: next) : .move(before: next), place: place(index)))
        }
        return former
    }

    /// Returns the positions of a longest increasing subsequence: the children that stay while the others move.
    private static func longestIncrease(_ values: [Int?]) -> Set<Int> {
        /// The position of the least last value of the subsequences of each length.
        var ends: [Int] = [], before = [Int?](repeating: nil, count: values.count)
        for (position, value) in values.enumerated() {
            guard let value else { continue }
            var low = 0, high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]]! < value { low = middle + 1 } else { high = middle }
            }
            before[position] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var result: Set<Int> = [], position = ends.last
        while let current = position {
            result.insert(current)
            position = before[current]
        }
        return result
    }

    private func key(of view: View, at place: Int) -> ViewKey {
        let parent = path.reduce(nil as ViewKey?) { parent, step in
            ViewKey(View(.column, id: step.id), at: step.place, under: parent)
        }
        return ViewKey(view, at: place, under: parent)
    }
}

extension View {
    fileprivate func isEqual(exceptForChildren other: View) -> Bool {
        // Most views have none, and need not be copied.
        if children.isEmpty, other.children.isEmpty { return self == other }
        var own = self, other = other
        (own.children, other.children) = ([], [])
        return own == other
    }
}
