public import Backplane
import Synchronization

/// The open screens of a manager or a program.
public final class OpenScreens: Sendable {
    private let table: ScreenTable
    private let services: any ScreenServices
    private let clock: any Clock<Duration>
    private let log: @Sendable (BackplaneError, _ screen: String) -> Void
    /// The screens in the order in which they were opened, including those that are being assembled.
    private let screens = Mutex<[OpenScreen]>([])

    /// Creates an empty collection for the open screens of a manager.
    public convenience init<M: ScreenManager>(_ context: ManagerContext<M>) {
        self.init(M.screenTable, ManagerServices(context: context)) { [log = context.log] error, screen in
            log.error("a screen cannot be drawn", metadata: ["screen": screen, "error": error.description])
        }
    }

    /// Creates an empty collection for the open screens of a table.
    ///
    /// - Parameters:
    ///   - table: The screens that can be opened.
    ///   - services: The services that their agents use.
    ///   - clock: The clock of the pauses between drawings.
    ///   - log: A function that is called when a screen cannot be redrawn.
    package init(
        _ table: ScreenTable, _ services: any ScreenServices, clock: any Clock<Duration> = ContinuousClock(),
        log: @escaping @Sendable (BackplaneError, _ screen: String) -> Void
    ) {
        (self.table, self.services, self.clock, self.log) = (table, services, clock, log)
    }

    deinit { closeAll() }

    // MARK: The contract

    package func open(_ request: ScreenRequest) async throws(BackplaneError) -> ScreenDrawing {
        let screen = OpenScreen(request, services, clock, log)
        // Before it is assembled, so that it can be closed during its assembly.
        screens.withLock { $0.append(screen) }
        do throws(BackplaneError) { return try await assemble(screen) } catch {
            close(request.number)
            throw error
        }
    }

    /// Passes on the changes and requests of an open screen, until it is closed.
    package func changes(
        after progress: ScreenProgress, _ send: (ScreenChange) async throws -> Void
    ) async throws {
        try await screen(progress.screen).changes(after: progress.revision, send)
    }

    package func handle(_ event: ScreenEvent) async throws -> Int {
        try await screen(event.screen).handle(event.event)
    }

    package func end(_ end: SegueEnd) { try? screen(end.screen).end(end.segue, end.error) }

    package func close(_ number: Int) {
        let screen = screens.withLock { screens in
            screens.firstIndex { $0.request.number == number }.map { screens.remove(at: $0) }
        }
        screen?.close()
    }

    package func closeAll() { replaceAll(with: []) }

    private func replaceAll(with screens: [OpenScreen]) {
        let replaced = self.screens.withLock { all in
            defer { all = screens }
            return all
        }
        for screen in replaced { screen.close() }
    }

    private func screen(_ number: Int) throws(BackplaneError) -> OpenScreen {
        guard let screen = screens.withLock({ screens in screens.first { $0.request.number == number } }) else {
            throw .screenClosed
        }
        if screen.awaitsAssembly {
            throw BackplaneError(
                .screenNotAssembled,
                "the new code has not assembled the screen `\(screen.request.screen)` again; call "
                    + "`screens.activate()` in the `activate` of its manager")
        }
        return screen
    }

    @discardableResult
    private func assemble(_ screen: OpenScreen) async throws(BackplaneError) -> ScreenDrawing {
        guard let entry = table[screen.request.screen] else {
            throw BackplaneError(.screenUnknown, "there is no screen `\(screen.request.screen)`")
        }
        return try await screen.assemble(entry)
    }

    // MARK: Swaps

    func kept() async throws -> KeptScreens {
        var kept: [KeptScreens.Screen] = []
        for screen in screens.withLock(\.self) {
            if let screen = try await screen.kept() { kept.append(screen) }
        }
        return KeptScreens(screens: kept)
    }

    /// Replaces the screens with the screens of the former code, which ``activate()`` assembles again.
    func take(_ state: KeptScreens) throws(BackplaneError) {
        if let kept = state.screens.first(where: { $0.latest > OpenScreen.greatest }) {
            throw BackplaneError(
                .stateIncompatible,
                "the latest change of the open screen `\(kept.screen)` has the number \(kept.latest); expected at most "
                    + "\(OpenScreen.greatest)")
        }
        replaceAll(
            with: state.screens.map { kept in
                OpenScreen(
                    ScreenRequest(number: kept.number, screen: kept.screen, input: kept.input), as: kept, services,
                    clock, log)
            })
    }

    /// Assembles the screens of the former code again, all or none; does nothing if there are none.
    ///
    /// ``ScreenManager/activate()`` calls this function. A manager with an `activate` of its own must call it, too.
    ///
    /// - Throws: The error of a screen, with the screen's name. The swap then fails.
    public func activate() async throws {
        let former = screens.withLock(\.self).filter(\.awaitsAssembly)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for screen in former {
                    group.addTask {
                        do throws(BackplaneError) { try await self.assemble(screen) } catch {
                            throw error.of("the open screen `\(screen.request.screen)` cannot be assembled again")
                        }
                    }
                }
                for try await _ in group {}
            }
        } catch {
            for screen in former { close(screen.request.number) }
            throw error
        }
    }
}

/// The services of a host or a program that the agents of open screens use.
package protocol ScreenServices: Sendable {
    func begin() -> Call
    func resolve<C: Contract>(_ type: C.Type, where isWanted: (ManagerDescription) -> Bool)
        async throws(BackplaneError) -> Wire<C>
    func resolve<Service>(service type: Service.Type, where isWanted: (Service) -> Bool)
        throws(BackplaneError) -> Service
}

private struct ManagerServices<M: ScreenManager>: ScreenServices {
    let context: ManagerContext<M>

    func begin() -> Call { context.begin() }

    func resolve<C: Contract>(_ type: C.Type, where isWanted: (ManagerDescription) -> Bool)
        async throws(BackplaneError) -> Wire<C>
    {
        try await context.resolve(type, where: isWanted)
    }

    func resolve<Service>(service type: Service.Type, where _: (Service) -> Bool) throws(BackplaneError) -> Service {
        throw BackplaneError(
            BackplaneError.Code(rawValue: "service.unknown"),
            "a plugin's screen cannot see the services of the program; resolve a contract instead")
    }
}

extension BackplaneError {
    package static var screenClosed: BackplaneError {
        BackplaneError(.screenClosed, "the screen is no longer shown")
    }
}
