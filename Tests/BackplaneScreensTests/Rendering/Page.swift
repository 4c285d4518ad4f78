@testable import BackplaneApp

/// A page as a browser has it: elements that patches change.
final class Page {
    private final class Element {
        let tag: String
        var attributes: [String: String]
        /// The elements and texts in it.
        var content: [Content] = []
        private(set) weak var parent: Element?

        init(_ tag: String, _ attributes: [String: String], in parent: Element?) {
            (self.tag, self.attributes, self.parent) = (tag, attributes, parent)
        }

        /// Copies an element into another one.
        convenience init(_ element: Element, in parent: Element?) {
            self.init(element.tag, element.attributes, in: parent)
            content = element.content.map {
                switch $0 {
                case .text: $0
                case .element(let child): .element(Element(child, in: self))
                }
            }
        }

        func remove(_ child: Element) {
            let index = index(of: child)
            content.remove(at: index)
        }

        func index(of child: Element) -> Int {
            content.firstIndex { if case .element(let element) = $0 { element === child } else { false } } ?? 0
        }

        func find(_ id: String) -> Element? {
            if attributes["id"] == id { return self }
            for case .element(let child) in content { if let found = child.find(id) { return found } }
            return nil
        }

        func values(of name: String) -> [String] {
            [attributes[name]].compactMap(\.self)
                + content.flatMap { part -> [String] in
                    if case .element(let child) = part { child.values(of: name) } else { [] }
                }
        }

        /// Calls a function with the element and all elements in it, and those around each.
        func visit(around: [Element] = [], _ body: (Element, [Element]) -> Void) {
            body(self, around)
            for case .element(let child) in content { child.visit(around: around + [self], body) }
        }

        var outline: String {
            let names = attributes.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            let inner = content.map {
                switch $0 {
                case .text(let text): text
                case .element(let element): element.outline
                }
            }
            return "<\(tag)\(names)>\(inner.joined())</\(tag)>"
        }
    }
    private enum Content {
        case text(String)
        case element(Element)
    }
    /// A mistake in HTML, with what follows it.
    struct Mistake: Error {
        var rest: String
    }
    private let root: Element

    /// Parses HTML in which all attributes have quotes, and all elements but `input` and `img` have ends.
    init(_ html: String) throws {
        root = Element("body", [:], in: nil)
        try Self.parse(html, into: root)
    }

    /// All elements, as text.
    var outline: String { root.outline }

    /// Returns the values of an attribute of all elements.
    func values(of name: String) -> [String] { root.values(of: name) }

    // MARK: The content model

    /// The levels of all headings.
    var headings: [Int] {
        var levels: [Int] = []
        root.visit { element, _ in
            if element.tag.count == 2, element.tag.first == "h", let level = Int(element.tag.dropFirst()) {
                levels.append(level)
            }
        }
        return levels
    }

    /// The elements that may not be where they are, such as `div in p`: blocks in lines, controls in controls, and what
    /// is no part of a list, a table or a choice.
    var misplaced: [String] {
        var misplaced: [String] = []
        root.visit { element, around in
            guard let parent = around.last else { return }
            let tag = element.tag
            let isPart = Self.parts[parent.tag].map { $0.contains(tag) }
            let belongs = Self.parts.filter { $0.value.contains(tag) }.map(\.key)
            if isPart == false || !belongs.isEmpty && !belongs.contains(parent.tag)
                || Self.ofLines.contains(parent.tag) && !Self.lines.contains(tag)
            {
                misplaced.append("\(tag) in \(parent.tag)")
            }
            // A label contains the control that it names.
            let closed = around.last { other in
                switch other.tag {
                case "a", "button": Self.controls.contains(tag) && element.attributes["type"] != "hidden"
                case "label": ["a", "button", "label"].contains(tag)
                case "form", "header", "main", "dialog": other.tag == tag
                default: false
                }
            }
            if let closed { misplaced.append("\(tag) in \(closed.tag)") }
        }
        return misplaced
    }

    /// The only children of elements, which are children of nothing else.
    private static let parts: [String: Set<String>] = [
        "ul": ["li"], "table": ["thead", "tbody"], "thead": ["tr"], "tbody": ["tr"], "tr": ["th", "td"],
        "select": ["option"],
    ]
    /// The elements that contain lines of text, and those that are parts of such lines.
    private static let ofLines: Set = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "span", "code", "label", "button", "a"]
    private static let lines: Set = [
        "a", "button", "code", "img", "input", "label", "progress", "select", "span", "textarea",
    ]
    private static let controls: Set = ["a", "button", "input", "label", "select", "textarea"]

    // MARK: Changes

    /// Changes the page as the script does.
    func apply(_ patch: HTMLPatch) throws {
        if patch.kind == .title { return }
        if patch.kind == .insert {
            let element = try Self.single(patch.html)
            return try insert(element, patch)
        }
        guard let element = root.find(patch.id) else { throw Mistake(rest: "no \(patch.id)") }
        switch patch.kind {
        case .replace:
            guard let parent = element.parent else { throw Mistake(rest: patch.id) }
            let new = Element(try Self.single(patch.html), in: parent)
            let index = parent.index(of: element)
            parent.content[index] = .element(new)
        case .fill:
            element.content = []
            try Self.parse(patch.html ?? "", into: element)
        case .remove: element.parent?.remove(element)
        case .move:
            element.parent?.remove(element)
            try insert(element, patch)
        case .cover: element.attributes["inert"] = ""
        case .uncover: element.attributes["inert"] = nil
        case .insert, .title: break
        }
    }

    private func insert(_ element: Element, _ patch: HTMLPatch) throws {
        guard let parent = patch.parent.flatMap(root.find) else { throw Mistake(rest: "no \(patch.parent ?? "")") }
        var index = parent.content.count
        if let before = patch.before {
            guard let neighbour = root.find(before), neighbour.parent === parent else { throw Mistake(rest: before) }
            index = parent.index(of: neighbour)
        }
        parent.content.insert(.element(Element(element, in: parent)), at: index)
    }

    /// Returns the only element of HTML.
    private static func single(_ html: String?) throws -> Element {
        let parent = Element("template", [:], in: nil)
        try parse(html ?? "", into: parent)
        guard parent.content.count == 1, case .element(let element) = parent.content[0] else {
            throw Mistake(rest: html ?? "")
        }
        return Element(element, in: nil)
    }

    private static func parse(_ html: String, into root: Element) throws {
        var rest = Substring(html), open = [root]
        while let start = rest.firstIndex(of: "<") {
            if start > rest.startIndex { open[open.count - 1].content.append(.text(String(rest[..<start]))) }
            guard let end = rest[start...].firstIndex(of: ">") else { throw Mistake(rest: String(rest)) }
            let tag = rest[rest.index(after: start)..<end]
            if tag.first == "/" {
                guard open.count > 1, open.removeLast().tag == tag.dropFirst() else {
                    throw Mistake(rest: String(rest))
                }
            } else {
                let element = try Self.element(tag, in: open[open.count - 1])
                open[open.count - 1].content.append(.element(element))
                if !["input", "img"].contains(element.tag) { open.append(element) }
            }
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { open[open.count - 1].content.append(.text(String(rest))) }
        guard open.count == 1 else { throw Mistake(rest: open[open.count - 1].tag) }
    }

    private static func element(_ tag: Substring, in parent: Element) throws -> Element {
        let name = tag.prefix { $0 != " " }
        var rest = tag[name.endIndex...], attributes: [String: String] = [:]
        while rest.first == " " {
            rest = rest.dropFirst()
            let key = rest.prefix { $0 != "=" && $0 != " " }
            rest = rest[key.endIndex...]
            var value = Substring("")
            if rest.hasPrefix("=\"") {
                rest = rest.dropFirst(2)
                value = rest.prefix { $0 != "\"" }
                rest = rest[value.endIndex...].dropFirst()
            }
            guard !key.isEmpty, attributes.updateValue(String(value), forKey: String(key)) == nil else {
                throw Mistake(rest: String(tag))
            }
        }
        guard rest.isEmpty else { throw Mistake(rest: String(tag)) }
        return Element(String(name), attributes, in: parent)
    }
}
