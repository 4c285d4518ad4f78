#if Engines
import BackplaneApp
import BackplaneNetwork
import BackplaneRoutes
import BackplaneScreens

/// The address of a place in an application as a path and a query: a screen, or a way to one.
enum ScreenAddress: Equatable, Sendable {
    /// The screen that a window begins with: `/`.
    case root
    /// A screen: `/screens/catalogue.book?input={"book":"7"}`, percent-encoded.
    case screen(Destination)
    /// The way to a tab, such as `/tabs/1`.
    case tab(Int)
    /// The way from the front screen to the one below it: `/back`.
    case back

    /// The input that an address need not have.
    private static let noInput = "null"

    /// Parses an address; returns `nil` for another path.
    ///
    /// - Throws: A problem with the status 400 for a query that is not in UTF-8.
    init?(path: String, query: String? = nil) throws {
        let steps = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        switch (steps.first ?? "", steps.count) {
        case ("", 1): self = .root
        case ("back", 1): self = .back
        case ("tabs", 2):
            guard let tab = Int(steps.last ?? ""), tab >= 0 else { return nil }
            self = .tab(tab)
        case ("screens", 2):
            let step = String(steps.last ?? "")
            guard let screen = String(validating: step.percentDecoded, as: UTF8.self), !screen.isEmpty,
                var destination = try? Destination(screen)
            else { return nil }
            destination.input = try QueryFields(query)["input"] ?? Self.noInput
            self = .screen(destination)
        default: return nil
        }
    }

    /// Parses an address with its query; returns `nil` for another text.
    init?(_ text: String) {
        let mark = text.firstIndex(of: "?") ?? text.endIndex
        guard let address = try? Self(path: String(text[..<mark]), query: String(text[mark...].dropFirst())) else {
            return nil
        }
        self = address
    }

    /// Creates the address of a window's current screen.
    init(of drawing: WindowDrawing) {
        let isRoot = drawing.selected == 0 && drawing.modal == nil && drawing.screen?.back == nil
        if let front = drawing.front, !isRoot { self = .screen(front.destination) } else { self = .root }
    }

    /// The path and the query.
    var text: String {
        switch self {
        case .root: "/"
        case .back: "/back"
        case .tab(let tab): "/tabs/\(tab)"
        case .screen(let destination):
            "/screens/\(destination.screen.percentEncodedValue)"
                + (destination.input == Self.noInput ? "" : "?input=\(destination.input.percentEncodedValue)")
        }
    }

    /// Goes to the address, unless the window shows it.
    ///
    /// - Parameter source: The number of the screen with the link to the address; `nil` for one that was typed.
    /// - Throws: The error that prevents the screen from being shown.
    func show(in window: Window, from source: Int? = nil) async throws {
        guard self != ScreenAddress(of: window.drawing) else { return }
        switch self {
        case .back: await window.goBack()
        case .tab(let tab): await window.select(tab: tab)
        case .screen(let destination):
            if let source { return await window.follow(destination, from: source) }
            guard window.drawing.front?.destination != destination else { return }
            try await window.open(destination)
        case .root:
            // First, because going back only cancels while a screen is assembled.
            await window.select(tab: 0)
            while let modal = window.drawing.modal?.number {
                await window.goBack()
                // The application's flow may keep the modal screen.
                guard window.drawing.modal?.number != modal else { return }
            }
            window.popToRoot()
        }
    }
}

/// The decoded fields of a query or a form, in order.
struct QueryFields: Sendable {
    let values: [String: [String]]

    /// Decodes the fields of a query.
    ///
    /// - Throws: A problem with the status 400 if they are not in UTF-8.
    init(_ query: String?) throws {
        values = try RouteRequest("", query: query).query(as: [String: [String]].self)
    }

    /// Decodes the fields of a form.
    ///
    /// - Throws: A problem with the status 400 if they are not in UTF-8.
    init(form: [UInt8]) throws {
        values = try RouteRequest("", body: form).form(as: [String: [String]].self)
    }

    /// The last value of a field; `nil` if there is none.
    subscript(name: String) -> String? { values[name]?.last }
}
#endif
