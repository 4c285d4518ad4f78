public import Backplane
public import BackplaneHost
import BackplaneNetwork
public import BackplaneScreens
import Synchronization

/// The screens of a host, and of the program itself, as one application.
///
/// The manifest names the screens that a window begins with, so that plugins alone make an application. A program
/// registers services and screens of its own, and overrides ``setup(in:)``, ``show(_:from:identifier:in:)`` and
/// ``dismiss(_:identifier:in:)`` to decide how screens are presented:
///
/// ```swift
/// final class MailApp: AppManager, @unchecked Sendable {
///     override func show(
///         _ screen: WindowScreen, from source: WindowScreen?, identifier: String, in window: Window
///     ) async throws {
///         if identifier == "mail.compose" { window.present(screen) } else { window.push(screen, onto: source) }
///     }
/// }
/// ```
///
/// An application has a window for each browser session, terminal and test. The code that makes windows limits their
/// number and closes them. Windows that are still open when the host stops are closed then.
///
/// `@unchecked`, since a subclass may have any properties; those of this class are constants, or guarded by a lock.
open class AppManager: @unchecked Sendable {
    /// The host whose screens these are.
    public let host: PluginHost
    /// The identifier of the screen that is shown in place of one that cannot be assembled.
    ///
    /// The member `identifier` of its input is the identifier of the other screen.
    public static let alertScreen = "appManager.alert"
    /// The time limit for the assembly of a screen, and for each decision of a flow.
    static let limit = Duration.seconds(10)
    private let screens = Mutex<[String: ProgramScreens]>([:])
    private let windows: OpenWindows
    private let activity: NetworkActivity

    /// Creates the application of a host, even one that has not been started.
    public init(_ host: PluginHost) {
        let windows = OpenWindows()
        (self.host, self.windows) = (host, windows)
        activity = NetworkActivity(of: host) { windows.redraw() }
        // A screen that waits for a segue would otherwise keep its component from stopping.
        host.addStopAction { await windows.close() }
    }

    /// Adds an instance that screens of the program find by its type, as `host.services` does.
    public func register(service: some Sendable) { host.services.register(service) }

    /// Adds a screen of the program itself.
    ///
    /// - Throws: `screen.clash` if the program or a plugin has a screen of this identifier, unless the manifest chooses
    ///   the plugin's; `screen.unknown` for a text that is not an identifier.
    public func register<S: Screen>(
        screen: S.Type, forIdentifier identifier: String = S.identifier
    ) throws(BackplaneError) {
        var table = ScreenTable()
        table.add(screen, as: identifier)
        if let problem = table.problems.first { throw BackplaneError(.screenUnknown, problem) }
        try requireNoClash(identifier)
        let opened = OpenScreens(table, ProgramServices(host)) { [log = host.log] error, screen in
            log.write(
                LogRecord(
                    level: .error, source: "host", message: "a screen cannot be drawn",
                    metadata: ["screen": screen, "error": error.description]))
        }
        let isNew = screens.withLock { screens in
            if screens[identifier] == nil { screens[identifier] = ProgramScreens(screens: opened) }
            return screens[identifier]?.screens === opened
        }
        guard isNew else {
            throw BackplaneError(
                .screenClash, "the program already has the screen `\(identifier)`; give this one another identifier")
        }
    }

    /// Assembles a screen for a window, without showing it; show it with a function such as ``Window/push(_:onto:)``.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the screen.
    ///   - data: The input of the screen.
    ///   - window: The window that closes the screen.
    /// - Throws: `screen.unknown`, `screen.clash`, `screen.invalid-input` with the place in the input,
    ///   `screen.not-assembled` after ten seconds, or if the window has 100 screens, or the error of the screen;
    ///   `screen.closed` if the window is closed.
    public func screen(
        for identifier: String, data: some Encodable & Sendable = Nothing(), in window: Window
    ) async throws(BackplaneError) -> WindowScreen {
        try await assemble(try Destination(identifier, data), in: window)
    }

    /// Opens a window and sets it up.
    ///
    /// - Throws: The error of ``setup(in:)``.
    public func makeWindow() async throws(BackplaneError) -> Window {
        let window = Window(self)
        windows.add(window)
        // The host may load something already.
        window.redraw()
        do throws(BackplaneError) {
            try await window.setUp()
            return window
        } catch {
            await window.close()
            throw error
        }
    }

    /// Shows the first screens of a window.
    ///
    /// By default, the flow decides on them, or the manifest's `root` or `tabs`.
    ///
    /// - Throws: The error of a screen that cannot be assembled, or `manifest.missing-key` if no first screen is named.
    ///   The window is not opened then.
    open func setup(in window: Window) async throws {
        await host.loadScreens()
        if try await isSetUpByFlow(window) { return }
        let settings = host.screens.table.settings ?? ScreenSettings()
        guard let root = settings.root else { return try await setTabs(settings.tabs, of: window) }
        window.setRoot(try await assemble(root, in: window))
    }

    /// Shows a screen that another screen has requested, or that was opened by its address.
    ///
    /// By default, the flow decides, or the screen is pushed onto the stack of its source. A screen that is not in the
    /// window afterwards is closed. The task is cancelled if the person does something else before the screen is shown.
    ///
    /// - Parameters:
    ///   - screen: The screen, which has been assembled.
    ///   - source: The screen that has requested it; `nil` for an address.
    ///   - identifier: The identifier of the screen.
    ///   - window: The window.
    /// - Throws: Any error, which the source receives and an alert shows to the person.
    open func show(
        _ screen: WindowScreen, from source: WindowScreen?, identifier: String, in window: Window
    ) async throws {
        if try await !isShownByFlow(screen, from: source, in: window) { window.push(screen, onto: source) }
    }

    /// Dismisses a screen that requests it, or that the person leaves.
    ///
    /// By default, the flow decides, or the screen is removed; the root of a tab remains.
    ///
    /// - Parameters:
    ///   - screen: The screen.
    ///   - identifier: The identifier of the screen.
    ///   - window: The window.
    /// - Throws: Any error, which the screen receives and an alert shows to the person.
    open func dismiss(_ screen: WindowScreen, identifier: String, in window: Window) async throws {
        if try await !isDismissedByFlow(screen, in: window) { window.remove(screen) }
    }
}

// MARK: Screens by identifier

extension AppManager {
    /// A Boolean value that indicates whether the host loads something from the network.
    var isLoading: Bool { activity.isReported }

    /// Returns whether the program or a plugin has a screen.
    func hasScreen(_ identifier: String) -> Bool {
        screens.withLock { $0[identifier] != nil } || host.screens.table.managers[identifier] != nil
    }

    /// Assembles a screen for a window.
    func assemble(_ destination: Destination, in window: Window) async throws(BackplaneError) -> WindowScreen {
        try window.requireRoom()
        await host.loadScreens()
        while true {
            let revision = host.screens.table.revision
            do throws(BackplaneError) {
                let source = try await source(of: destination.screen)
                let screen = try await WindowScreen.assemble(
                    destination, from: source, in: window, within: Self.limit)
                guard window.adopt(screen) else { throw .screenClosed }
                return screen
            } catch {
                // A change may have moved the screen to another manager.
                let isMoved = [.screenUnknown, .unknownManager, .callRetired].contains(error.code)
                guard isMoved, host.screens.table.revision != revision else { throw error }
            }
        }
    }

    private func source(of identifier: String) async throws(BackplaneError) -> any ScreenSource {
        let own = screens.withLock(\.self), managers = host.screens.table.managers
        if let screen = own[identifier], !isChosenByManifest(identifier) {
            try requireNoClash(identifier)
            return screen
        }
        guard let manager = managers[identifier] else {
            throw .unknownScreen(
                identifier, "neither a plugin nor the program has the screen",
                among: Array(managers.keys) + Array(own.keys))
        }
        do {
            // A slow start must not hold up a person who goes elsewhere; it continues in the background.
            let screens = try await Race.run(
                by: host.clock, { [host] in try await host.manager(manager, as: Screens.self) }, watchedBy: { nil })
            return PluginScreens(screens, of: host)
        } catch { throw BackplaneError(thrown: error) }
    }

    private func isChosenByManifest(_ identifier: String) -> Bool {
        let table = host.screens.table, manager = table.managers[identifier]
        return manager != nil && table.settings?.use[identifier] == manager
    }

    /// Throws `screen.clash` if the program and a plugin have the same screen, and the manifest does not choose the
    /// plugin's.
    private func requireNoClash(_ identifier: String) throws(BackplaneError) {
        guard let manager = host.screens.table.managers[identifier], !isChosenByManifest(identifier) else { return }
        throw BackplaneError(
            .screenClash,
            "the program and `\(manager)` have the screen `\(identifier)`; give the program's another identifier, or "
                + "choose `\(manager)` with `screens.use` of the manifest")
    }

    /// Sets the tabs of a window.
    func setTabs(_ tabs: [ScreenTab], of window: Window) async throws(BackplaneError) {
        guard !tabs.isEmpty else {
            throw BackplaneError(
                .manifestMissingKey,
                "no first screen is named; name one as `root`, or several as `tabs`, in the section `screens`",
                at: "/screens")
        }
        var roots: [WindowScreen] = []
        for tab in tabs { roots.append(try await assemble(tab.destination, in: window)) }
        window.setTabs(roots, titles: tabs.map(\.title))
    }
}

/// The windows of an application that somebody uses.
private final class OpenWindows: Sendable {
    private struct Entry: Sendable {
        weak let window: Window?

        init(_ window: Window) { self.window = window }
    }
    private let entries = Mutex<[Entry]>([])

    func add(_ window: Window) {
        entries.withLock { entries in
            entries.removeAll { $0.window == nil }
            entries.append(Entry(window))
        }
    }

    func redraw() {
        for entry in entries.withLock(\.self) { entry.window?.redraw() }
    }

    func close() async {
        // Together, since a screen that does not close must not keep other windows open.
        await withTaskGroup(of: Void.self) { group in
            for entry in entries.withLock(\.self) { group.addTask { await entry.window?.close() } }
        }
    }
}
