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
    }

    /// The lists of a package, in the order in which its initialiser takes them.
    enum List: String, CaseIterable, Sendable {
        case products, traits, dependencies, targets
    }

    /// Puts elements at the end of a list of the package.
    mutating func add(_ elements: [String], to list: List) throws(NoPlace) {
        guard !elements.isEmpty else { return }
        let source = SwiftText(text)
        guard let package = SwiftCall.calls(of: "Package", in: source).first else { throw NoPlace(list: list.rawValue) }
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
        let source = SwiftText(text)
        let calls = ["target", "executableTarget", "testTarget"].flatMap { SwiftCall.calls(of: $0, in: source) }
        let call = calls.first { $0.arguments["name"].map(source.text) == target.swiftLiteral }
        guard let call, let value = call.arguments["dependencies"], let brackets = SwiftList(at: value, in: source) else {
            throw NoPlace(list: "dependencies of \(target)")
        }
        let present = Set(brackets.elements)
        text = brackets.adding(elements.filter { !present.contains($0) })
    }

    /// The name that stands for the settings of every target that has any; `nil`: they are written out, or there are none.
    var settings: String? {
        let source = SwiftText(text)
        let values = SwiftCall.calls(of: "target", in: source).compactMap { $0.arguments["swiftSettings"].map(source.text) }
        guard let first = values.first, first.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }), values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Writes a list that is not there yet, before the next one that is.
    private func adding(_ list: List, _ elements: [String], to package: SwiftCall, _ source: SwiftText) throws(NoPlace) -> String {
        let later = List.allCases.drop { $0 != list }.dropFirst()
        guard let next = later.lazy.compactMap({ package.labels[$0.rawValue] }).first else { throw NoPlace(list: list.rawValue) }
        let indent = source.indent(at: next)
        let lines = elements.map { "\($0),".indented(by: indent + "    ") + "\n" }.joined()
        return source.text(0..<next) + "\(list.rawValue): [\n\(lines)\(indent)],\n\(indent)" + source.text(next..<source.bytes.count)
    }
}
