import Backplane
import BackplaneHost
import BackplaneScreens

/// The screens of a plugin's manager or of the program, as windows open and use them.
protocol ScreenSource: Sendable {
    /// Assembles a screen, and returns its drawing.
    func open(_ request: ScreenRequest) async throws(BackplaneError) -> ScreenDrawing
    /// Passes on the changes and requests of an open screen, until the screen is closed or `receive` throws an error.
    func changes(after progress: ScreenProgress, _ receive: (ScreenChange) async throws -> Void) async throws
    /// Lets a screen handle an event, and returns the revision of its drawing afterwards.
    func handle(_ event: ScreenEvent) async throws(BackplaneError) -> Int
    /// Notifies a screen of the end of a segue or a dismissal.
    func end(_ end: SegueEnd) async
    /// Closes a screen.
    func close(_ screen: Int) async
}

/// The screens of a plugin's manager.
struct PluginScreens: ScreenSource {
    private let manager: Remote<Screens>
    private weak let host: PluginHost?

    init(_ manager: Remote<Screens>, of host: PluginHost) {
        self.manager = manager
        self.host = host
    }

    func open(_ request: ScreenRequest) async throws(BackplaneError) -> ScreenDrawing {
        try checked(try await manager.open(request, begin()))
    }

    func changes(after progress: ScreenProgress, _ receive: (ScreenChange) async throws -> Void) async throws {
        for try await change in manager.changes(progress) {
            if let drawing = change.drawing { _ = try checked(drawing) }
            try await receive(change)
        }
    }

    /// Checks a drawing, because a manager need not use the SDK, which checks it as well.
    private func checked(_ drawing: ScreenDrawing) throws(BackplaneError) -> ScreenDrawing {
        try ViewLimits.check(drawing.body, title: drawing.title)
        return drawing
    }

    func handle(_ event: ScreenEvent) async throws(BackplaneError) -> Int { try await manager.handle(event, begin()) }

    // A manager that can no longer be called has no open screens.

    func end(_ end: SegueEnd) async { _ = try? manager.end(end, begin()) }

    func close(_ screen: Int) async { _ = try? await manager.close(screen, begin()) }

    /// Begins a call with a trace of its own.
    private func begin() -> Call { host?.begin() ?? Call() }
}

/// A screen of the program itself.
struct ProgramScreens: ScreenSource {
    let screens: OpenScreens

    func open(_ request: ScreenRequest) async throws(BackplaneError) -> ScreenDrawing {
        try await screens.open(request)
    }

    func changes(after progress: ScreenProgress, _ receive: (ScreenChange) async throws -> Void) async throws {
        try await screens.changes(after: progress, receive)
    }

    func handle(_ event: ScreenEvent) async throws(BackplaneError) -> Int {
        do { return try await screens.handle(event) } catch { throw BackplaneError(thrown: error) }
    }

    func end(_ end: SegueEnd) async { screens.end(end) }

    func close(_ screen: Int) async { screens.close(screen) }
}

/// The services available to the agents of the program's screens.
struct ProgramServices: ScreenServices {
    private weak let host: PluginHost?

    init(_ host: PluginHost) { self.host = host }

    func begin() -> Call { host?.begin() ?? Call() }

    func resolve<C: Contract>(_ type: C.Type, where isWanted: (ManagerDescription) -> Bool)
        async throws(BackplaneError) -> Wire<C>
    {
        guard let host else { throw .screenClosed }
        return try await host.wire(to: type, where: isWanted)
    }

    func resolve<Service>(service type: Service.Type, where isWanted: (Service) -> Bool)
        throws(BackplaneError) -> Service
    {
        guard let host else { throw .screenClosed }
        return try host.services.resolve(type, where: isWanted)
    }
}
