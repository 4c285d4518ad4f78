import BackplaneTerminal

/// A Package.swift as it is written, with room for more products, dependencies and targets.
///
/// Elements are put at the end of lists that are written out in brackets; whatever else stands there stays as it is, to the byte.
struct PackageSource: Sendable {
    private(set) var text: String

    init(_ text: String) { self.text = text }

    /// There is no list in brackets to put something into.
    struct NoPlace: Error, Hashable {
        /// What would have to be there.
        var list: String
        /// There are several, and which of them holds is not clear.
        var isAmbiguous = false
    }

    /// The lists of a package, in the order in which its initialiser takes them.
    enum List: String, CaseIterable, Sendable {
        case products, traits, dependencies, targets
    }

    /// Puts elements at the end of a list of the package.
    mutating func add(_ elements: [String], to list: List) throws(NoPlace) {
        guard !elements.isEmpty else { return }
        // Where nothing can be added nothing is laid out anew either.
        let spread = spread(), source = SwiftText(spread), package = try Self.package(in: source, for: list.rawValue)
        if let value = package.arguments[list.rawValue] {
            guard let brackets = SwiftList(at: value, in: source) else { throw NoPlace(list: list.rawValue) }
            text = brackets.adding(elements)
        } else {
            text = try adding(list, elements, to: package, source)
        }
    }

    /// Puts elements at the end of the dependencies of a target that is written out.
    mutating func add(_ elements: [String], toDependenciesOf target: String) throws(NoPlace) {
        guard !elements.isEmpty else { return }
        let brackets = try Self.dependencies(of: target, in: SwiftText(text)), present = Set(brackets.elements)
        let missing = elements.filter { !present.contains($0) }
        guard !missing.isEmpty else { return }
        text = try Self.dependencies(of: target, in: SwiftText(spread(.targets))).adding(missing)
    }

    private static func dependencies(of target: String, in source: SwiftText) throws(NoPlace) -> SwiftList {
        let calls = ["target", "executableTarget", "testTarget"].flatMap { SwiftCall.calls(of: $0, in: source) }
        // A `.target(name:)` without any is what another one depends on.
        let values = calls.filter { $0.arguments["name"].map(source.text) == target.swiftLiteral }.compactMap { $0.arguments["dependencies"] }
        guard values.count == 1, let brackets = SwiftList(at: values[0], in: source) else {
            throw NoPlace(list: "dependencies of \(target)", isAmbiguous: values.count > 1)
        }
        return brackets
    }

    private static func package(in source: SwiftText, for list: String) throws(NoPlace) -> SwiftCall {
        let calls = SwiftCall.calls(of: "Package", in: source)
        // Which of several holds, such as those between `#if` and `#else`, the text alone does not say.
        guard let package = calls.first, calls.count == 1 else { throw NoPlace(list: list, isAmbiguous: calls.count > 1) }
        return package
    }

    /// The text with the arguments of a package that stands on one line on lines of their own, and then the elements of a list.
    private func spread(_ list: List? = nil) -> String {
        let source = SwiftText(text)
        guard let package = try? Self.package(in: source, for: "") else { return text }
        let spread = SwiftText(package.spread(in: source))
        guard let list, let value = (try? Self.package(in: spread, for: ""))?.arguments[list.rawValue], let brackets = SwiftList(at: value, in: spread) else {
            return spread.text(0..<spread.bytes.count)
        }
        return brackets.spread()
    }

    /// The name that stands for the settings of every target that has any; `nil`: they are written out, or there are none.
    var settings: String? {
        let source = SwiftText(text)
        let values = SwiftCall.calls(of: "target", in: source).compactMap { $0.arguments["swiftSettings"].map(source.text) }
        guard let first = values.first, first.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }), values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Writes a list that is not there yet, before the next one that is: above the comments that belong to that.
    private func adding(_ list: List, _ elements: [String], to package: SwiftCall, _ source: SwiftText) throws(NoPlace) -> String {
        let later = List.allCases.drop { $0 != list }.dropFirst()
        guard let next = later.lazy.compactMap({ package.labels[$0.rawValue] }).first else { throw NoPlace(list: list.rawValue) }
        let gap = source.gap(before: next, in: package.inside), lineEnd = source.lineEnd
        if let start = source.secondLine(of: gap) {
            let indent = source.indent(at: next)
            return source.applying([SwiftEdit(at: start, "\(written(list, elements, source, indent))\(lineEnd)")])
        }
        // It stands behind another one, which begins the line, or whose end does: `], targets: [`.
        let indent = source.indent(at: gap.lowerBound), space = gap.lowerBound..<source.contents(of: gap.lowerBound..<(next + 1)).lowerBound
        let begins = package.elements.contains { $0.lowerBound == source.firstOnLine(of: gap.lowerBound) }
        if begins { return source.applying([SwiftEdit(space, "\(lineEnd)\(written(list, elements, source, indent))\(lineEnd)\(indent)")]) }
        let text = written(list, elements, source, indent).dropFirst(indent.count)
        return source.applying([SwiftEdit(at: space.upperBound, "\(text) ")])
    }

    /// A list as lines, without the end of the last.
    private func written(_ list: List, _ elements: [String], _ source: SwiftText, _ indent: String) -> String {
        let inner = indent + source.step, lines = elements.map { source.lines("\($0),", indent: inner) }
        return (["\(indent)\(list.rawValue): ["] + lines + ["\(indent)],"]).joined(separator: source.lineEnd)
    }
}
