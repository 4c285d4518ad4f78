import BackplaneNetwork

/// A tree of the routes of several owners, which finds the route of a request.
///
/// At each segment a literal is preferred to a parameter, and a parameter to the rest of the path. A route for another
/// method does not hide a less specific route.
package struct RouteMatcher<Owner: Sendable>: Sendable {
    /// The routes of one owner, below a common prefix of their paths.
    package struct Table: Sendable {
        package var owner: Owner
        package var prefix: String
        package var annotation: RouteAnnotation

        package init(_ owner: Owner, prefix: String = "/", _ annotation: RouteAnnotation) {
            (self.owner, self.prefix, self.annotation) = (owner, prefix, annotation)
        }
    }

    /// A route of an owner, with its whole path.
    package struct Entry: Sendable {
        package let owner: Owner
        package let route: RouteDescription
        package let path: String
        fileprivate let names: [String]
    }

    package enum Match: Sendable {
        case found(Entry, parameters: [String: String])
        /// No route matches the path.
        case notFound
        /// Routes match the path, but only for these methods.
        case notAllowed([String])
        /// The path has segments such as `..`, or is not UTF-8.
        case malformed

        /// The problem with which a server answers if there is no route.
        package var problem: RouteProblem? {
            switch self {
            case .found: nil
            case .notFound: RouteProblem(404)
            case .notAllowed(let methods): RouteProblem(405, headers: ["Allow": methods.joined(separator: ", ")])
            case .malformed: RouteProblem(400, "the path is malformed")
            }
        }
    }

    private struct Node: Sendable {
        var literals: [String: Int] = [:]
        var parameter: Int?
        /// The routes whose paths end here, and the routes that take the rest of the path.
        var entries: [Entry] = [], rests: [Entry] = []
    }
    private var nodes = [Node()]
    /// The pairs of routes that match the same requests; the first route of a pair is found.
    package private(set) var clashes: [(first: Entry, second: Entry)] = []
    /// The routes that cannot be matched, in sentences.
    package private(set) var problems: [String] = []

    package init(_ tables: [Table]) {
        for table in tables { for route in table.annotation.routes { add(route, of: table) } }
        // Several owners may answer the preflight requests of one path, in the same way.
        let before = (clashes, problems)
        for table in tables {
            for path in table.annotation.preflights { add(RouteDescription("OPTIONS", path), of: table) }
        }
        (clashes, problems) = before
    }

    private mutating func add(_ route: RouteDescription, of table: Table) {
        let path = RoutePattern.joined(table.prefix, route.path), pattern: RoutePattern
        do throws(RoutePattern.Invalid) { pattern = try RoutePattern(path) } catch {
            problems.append("`\(route.method) \(path)`: \(error.reason)")
            return
        }
        let entry = Entry(owner: table.owner, route: route, path: path, names: pattern.names)
        var number = 0
        for segment in pattern.segments {
            switch segment {
            case .literal(let text):
                let next = nodes[number].literals[text] ?? nodes.count
                nodes[number].literals[text] = next
                number = next
            case .parameter:
                let next = nodes[number].parameter ?? nodes.count
                nodes[number].parameter = next
                number = next
            case .rest:
                return insert(entry, into: \.rests, of: number)
            }
            if number == nodes.count { nodes.append(Node()) }
        }
        insert(entry, into: \.entries, of: number)
    }

    private mutating func insert(_ entry: Entry, into list: WritableKeyPath<Node, [Entry]>, of number: Int) {
        if let first = nodes[number][keyPath: list].first(where: { $0.route.method == entry.route.method }) {
            clashes.append((first, entry))
        } else {
            nodes[number][keyPath: list].append(entry)
        }
    }

    /// Returns the route of a request, by its method and its path as it was sent.
    package func match(_ method: String, _ path: String) -> Match {
        guard let segments = Self.segments(of: path) else { return .malformed }
        var search = Search(method: method, segments: segments)
        if let entry = find(&search, in: 0, at: 0) {
            return .found(entry, parameters: Dictionary(uniqueKeysWithValues: zip(entry.names, search.values)))
        }
        guard !search.methods.isEmpty else { return .notFound }
        if search.methods.contains("GET") { search.methods.insert("HEAD") }
        return .notAllowed(search.methods.sorted())
    }

    private struct Search {
        let method: String
        let segments: [String]
        /// The values of the parameters up to the current segment.
        var values: [String] = []
        /// The methods of the routes that match the path.
        var methods: Set<String> = []

        mutating func choose(_ entries: [Entry]) -> Entry? {
            if let entry = entries.first(where: { $0.route.method == method }) { return entry }
            if method == "HEAD", let entry = entries.first(where: { $0.route.method == "GET" }) { return entry }
            methods.formUnion(entries.map(\.route.method))
            return nil
        }
    }

    // Each node is visited at most once, because only one path leads to it.
    private func find(_ search: inout Search, in number: Int, at index: Int) -> Entry? {
        let node = nodes[number]
        guard index < search.segments.count else { return search.choose(node.entries) }
        let segment = search.segments[index]
        if let next = node.literals[segment], let entry = find(&search, in: next, at: index + 1) { return entry }
        if let next = node.parameter, !segment.isEmpty {
            search.values.append(segment)
            if let entry = find(&search, in: next, at: index + 1) { return entry }
            search.values.removeLast()
        }
        // An encoded slash would look like the end of a segment.
        let rest = search.segments[index...]
        guard !node.rests.isEmpty, !rest.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }),
            let entry = search.choose(node.rests)
        else { return nil }
        search.values.append(rest.joined(separator: "/"))
        return entry
    }

    /// Returns the decoded segments of a path, without an empty last segment; `nil` for a malformed path.
    ///
    /// A path is malformed if a segment is `.` or `..`, contains one of them between encoded slashes, or contains a
    /// zero byte.
    private static func segments(of path: String) -> [String]? {
        guard path.utf8.first == UInt8(ascii: "/"), !path.unicodeScalars.contains("\u{FFFD}") else { return nil }
        var segments: [String] = []
        for part in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let text = String(Substring(part))
            guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: ".") || $0 == 0 }) else {
                segments.append(text)
                continue
            }
            guard let decoded = String(validating: text.percentDecoded, as: UTF8.self), !decoded.utf8.contains(0),
                !decoded.utf8.split(separator: UInt8(ascii: "/")).contains(where: {
                    $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
                })
            else { return nil }
            segments.append(decoded)
        }
        if segments.last == "" { segments.removeLast() }
        return segments
    }
}
