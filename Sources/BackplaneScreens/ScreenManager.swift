public import Backplane

/// A manager that has screens.
///
/// ```swift
/// final class CatalogueScreens: ScreenManager {
///     let screens: OpenScreens
///
///     init(_ context: Context) { screens = OpenScreens(context) }
///
///     static func screens(_ table: inout ScreenTable) {
///         table.add(BookList.self)
///         table.add(BookPage.self)
///     }
/// }
/// ```
///
/// When the plugin is swapped, the new code assembles the open screens again, with the same inputs and at the same
/// places. It does so once all components that they can call are ready. If a screen cannot be assembled, the swap
/// fails. A manager with an `activate` of its own calls `screens.activate()` there.
public protocol ScreenManager: Manager, StatefulComponent where Provides == Screens, State == KeptScreens {
    /// Registers the screens.
    static func screens(_ table: inout ScreenTable)
    /// The open screens, which `init` creates with `OpenScreens(context)`.
    var screens: OpenScreens { get }
}

extension ScreenManager {
    /// Registers the bodies of ``Screens``, which call the open screens.
    public static func methods(_ table: inout Methods) {
        table.async(\.open) { me, request, _ in try await me.screens.open(request) }
        table.stream(\.changes) { me, progress, changes, _ in
            try await me.screens.changes(after: progress) { change in try await changes.send(change) }
        }
        table.async(\.handle) { me, event, _ in try await me.screens.handle(event) }
        table.sync(\.end) { me, end, _ in
            me.screens.end(end)
            return Nothing()
        }
        table.async(\.close) { me, screen, _ in
            me.screens.close(screen)
            return Nothing()
        }
    }

    /// The screens in JSON, which a host reads without an instance.
    public static var annotation: String? { ScreenAnnotation(of: screenTable).json }

    /// The schema of the state, with the same name for all managers, so that screens can move to another class.
    public static var stateSchema: StateSchema { StateSchema(name: "screens") }

    /// The open screens with their inputs and places.
    public func exportState() async throws -> KeptScreens { try await screens.kept() }

    /// Takes over the open screens of the former code.
    ///
    /// - Throws: `state.incompatible` if a number is too great to be continued.
    public func importState(_ state: KeptScreens) throws { try screens.take(state) }

    /// Assembles the open screens of the former code again.
    public func activate() async throws { try await screens.activate() }

    /// Closes all screens.
    public func stop() async { screens.closeAll() }

    static var screenTable: ScreenTable {
        var table = ScreenTable()
        screens(&table)
        return table
    }
}

/// The data about the open screens of a manager that survives a swap of its code.
public struct KeptScreens: Codable, Sendable {
    /// A screen with its input and its place, both in JSON.
    public struct Screen: Codable, Sendable {
        /// The number by which the host identifies the screen.
        var number: Int
        var screen: String
        var input: String
        var position: String
        /// The number of its latest drawing, segue or dismissal.
        var latest: Int
    }
    /// The screens, in the order in which they were opened.
    public var screens: [Screen]
}
