package import Backplane

/// The screens of a manager or a program, by identifier.
///
/// A mistake, such as two screens with one identifier, excludes a screen from the table. It is reported when the
/// manifest is checked.
public struct ScreenTable: Sendable {
    /// The entry of a screen: the functions that know its type.
    package struct Entry: Sendable {
        package let identifier: String
        /// The layout of the input, in the form of a state's layout; `nil` for ``Nothing``.
        let input: String?
        let assemble:
            @Sendable (_ input: String, _ position: String?, _ agent: Agent) async throws(BackplaneError) ->
                any ShownScreen
    }
    package private(set) var entries: [Entry] = []
    /// The mistakes of the table, in sentences.
    package private(set) var problems: [String] = []

    package init() {}

    /// Adds a screen under its identifier, or under another one.
    public mutating func add<S: Screen>(_ screen: S.Type, as identifier: String = S.identifier) {
        guard !identifier.isEmpty, identifier.utf8.count <= 200,
            identifier.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") })
        else {
            problems.append("`\(identifier)` is not an identifier: it has spaces or slashes, or is too long or empty")
            return
        }
        guard self[identifier] == nil else {
            problems.append("two screens have the identifier `\(identifier)`")
            return
        }
        entries.append(
            Entry(
                identifier: identifier,
                input: S.Input.self == Nothing.self ? nil : LayoutReader.layout(ofState: S.Input.self)
            ) { (input, position, agent) async throws(BackplaneError) in
                try await AssembledScreen<S>.assemble(identifier, input, position, agent)
            })
    }

    package subscript(_ identifier: String) -> Entry? { entries.first { $0.identifier == identifier } }
}

/// A screen of any type, once it is assembled.
protocol ShownScreen: Sendable {
    func drawing() async throws(BackplaneError) -> (title: String, body: [View])
    func handle(_ event: ViewEvent) async throws
    /// Returns the position in JSON.
    func position() async throws(BackplaneError) -> String
}

private struct AssembledScreen<S: Screen>: ShownScreen {
    let screen: S

    static func assemble(_ identifier: String, _ input: String, _ position: String?, _ agent: Agent)
        async throws(BackplaneError) -> any ShownScreen
    {
        let value: S.Input
        do throws(BackplaneError) {
            value = try JSON.decode(S.Input.self, Array(input.utf8), failing: .screenInvalidInput)
        } catch {
            throw error.of("the input of the screen `\(identifier)` does not have the expected form")
        }
        do {
            let screen = try await S.assemble(with: value, agent: agent)
            // A place that the new code no longer supports is dropped.
            if let position,
                let place = try? JSON.decode(S.Position.self, Array(position.utf8), failing: .stateIncompatible)
            {
                try await screen.resume(at: place)
            }
            return AssembledScreen(screen: screen)
        } catch {
            throw BackplaneError(thrown: error)
        }
    }

    func drawing() async throws(BackplaneError) -> (title: String, body: [View]) {
        let body = await screen.body, title = await screen.title
        try ViewLimits.check(body, title: title)
        return (title, body)
    }

    func handle(_ event: ViewEvent) async throws { try await screen.handle(event) }

    func position() async throws(BackplaneError) -> String {
        String(decoding: try JSON.encode(await screen.position, failing: .stateIncompatible), as: UTF8.self)
    }
}

extension BackplaneError {
    /// Returns the error with its subject prepended to the message.
    func of(_ subject: String) -> BackplaneError {
        var error = self
        error.message = "\(subject): \(message)"
        return error
    }
}

/// The screens of a component class, as the annotation of its descriptor lists them in JSON.
///
///     {"screens":[{"identifier":"catalogue.book","input":"state: #0=struct …"}]}
package struct ScreenAnnotation: Codable, Sendable {
    package struct Entry: Codable, Sendable, Equatable {
        package var identifier: String
        /// The layout of the input, from which tools read its shape; `nil` if there is no input.
        package var input: String?
    }
    package var screens: [Entry]
    /// The mistakes in the table, in sentences.
    package var problems: [String]?

    package init(of table: ScreenTable) {
        screens = table.entries.map { Entry(identifier: $0.identifier, input: $0.input) }
        problems = table.problems.isEmpty ? nil : table.problems
    }

    /// Reads an annotation.
    ///
    /// - Throws: `plugin.invalid-answer` for JSON that does not list screens.
    package init(json: String) throws(BackplaneError) {
        self = try JSON.decode(Self.self, Array(json.utf8), failing: .pluginInvalidAnswer)
    }

    package var json: String? {
        (try? JSON.encodeSorted(self, failing: .pluginInvalidAnswer)).map { String(decoding: $0, as: UTF8.self) }
    }
}
