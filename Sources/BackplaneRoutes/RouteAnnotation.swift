package import Backplane
import FoundationEssentials

/// The routes of a component class, as the annotation of its descriptor lists them in JSON.
///
///     {"routes":[{"kind":"answer","method":"GET","path":"/books/:id"}]}
package struct RouteAnnotation: Sendable {
    package var routes: [RouteDescription]
    /// The patterns for which the class answers preflight requests of browsers, with the method `OPTIONS`.
    package var preflights: [String]
    /// The mistakes in the table, in sentences; routes with mistakes are excluded.
    package var problems: [String]

    package init(routes: [RouteDescription], preflights: [String] = [], problems: [String] = []) {
        (self.routes, self.preflights, self.problems) = (routes, preflights, problems)
    }

    init<C: Sendable>(of table: Routes<C>) {
        self.init(
            routes: table.routes.filter { !$0.isPreflight }.map(\.description),
            preflights: table.routes.filter(\.isPreflight).map(\.description.path), problems: table.problems)
    }

    /// Reads an annotation.
    ///
    /// - Throws: `plugin.invalid-answer` for JSON that does not list routes.
    package init(json: String) throws(BackplaneError) {
        self = try JSON.decode(Self.self, Array(json.utf8), failing: .pluginInvalidAnswer)
    }

    package var json: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The description of a route for a server and for tools.
package struct RouteDescription: Sendable, Equatable {
    package var method: String
    package var path: String
    package var kind: Kind

    /// The kind of a route, which determines how its manager is called and its answer sent.
    package enum Kind: String, Sendable, Codable {
        case answer, stream, events
    }

    package init(_ method: String, _ path: String, _ kind: Kind = .answer) {
        (self.method, self.path, self.kind) = (method, path, kind)
    }

    /// The name by which a request refers to the route, such as `GET /books/:id`.
    package var name: String { "\(method) \(path)" }
}

extension RouteAnnotation: Codable {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        routes = try values.decode([RouteDescription].self, forKey: .routes)
        preflights = try values.decodeIfPresent([String].self, forKey: .preflights) ?? []
        problems = try values.decodeIfPresent([String].self, forKey: .problems) ?? []
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(routes, forKey: .routes)
        if !preflights.isEmpty { try values.encode(preflights, forKey: .preflights) }
        if !problems.isEmpty { try values.encode(problems, forKey: .problems) }
    }
}

extension RouteDescription: Codable {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        method = try values.decode(String.self, forKey: .method)
        path = try values.decode(String.self, forKey: .path)
        kind = try values.decode(Kind.self, forKey: .kind)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(method, forKey: .method)
        try values.encode(path, forKey: .path)
        try values.encode(kind, forKey: .kind)
    }
}

extension TextKey {
    fileprivate static let routes = TextKey("routes")
    fileprivate static let preflights = TextKey("preflights")
    fileprivate static let problems = TextKey("problems")
    fileprivate static let kind = TextKey("kind")
}
