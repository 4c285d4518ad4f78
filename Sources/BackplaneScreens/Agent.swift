public import Backplane

/// What a screen can do in its application: resolve contracts, and request transitions.
///
/// It cannot register anything, and it cannot get a screen. Once its screen is no longer shown, or its host has
/// stopped, its functions throw `screen.closed`, and ``redraw()`` does nothing.
public final class Agent: Sendable {
    private let actions: any AgentActions

    package init(_ actions: any AgentActions) { self.actions = actions }

    /// A frame for the calls of the screen.
    public var call: Call { actions.begin() }

    /// Returns a wire to the first matching manager that provides a contract, ordered by plugin and then by name.
    ///
    /// - Parameters:
    ///   - type: The contract that the manager provides.
    ///   - isWanted: The condition that a manager must meet.
    /// - Throws: `manager.unknown` if there is none; `screen.closed`.
    public func resolve<C: Contract>(
        _ type: C.Type = C.self, where isWanted: (ManagerDescription) -> Bool = { _ in true }
    ) async throws(BackplaneError) -> Wire<C> {
        try await actions.resolve(C.self, where: isWanted)
    }

    /// Returns the first matching service that the program has registered with its `AppManager`.
    ///
    /// Plugins cannot see the services of a program; their screens resolve contracts.
    ///
    /// - Throws: `service.unknown`; `screen.closed`.
    public func resolve<Service>(
        service type: Service.Type = Service.self, where isWanted: (Service) -> Bool = { _ in true }
    ) throws(BackplaneError) -> Service {
        try actions.resolve(service: type, where: isWanted)
    }

    /// Shows another screen, and returns once it is shown. While its own screen is assembled, it returns at once.
    ///
    /// - Throws: `screen.unknown`, `screen.invalid-input`, or the error with which the other screen was not assembled;
    ///   `screen.closed`; `call.cancelled` if the person does something else before the other screen is shown, of which
    ///   no alert tells, or in a cancelled task, while the segue goes on.
    public func performSegue<S: Screen>(to screen: S.Type, data: S.Input) async throws(BackplaneError) {
        try await actions.perform(try Destination(screen, data))
    }

    /// Shows a screen of any module, and returns once it is shown. While its own screen is assembled, it returns at
    /// once.
    ///
    /// - Throws: The errors of a segue to a type of screen.
    public func performSegue(to identifier: String, data: some Encodable & Sendable = Nothing())
        async throws(BackplaneError)
    {
        try await actions.perform(try Destination(identifier, data))
    }

    /// Dismisses the screen of the agent, and returns once it is. While the screen is assembled, it returns at once.
    ///
    /// - Throws: `screen.closed`; `call.cancelled` in a cancelled task.
    public func dismiss() async throws(BackplaneError) { try await actions.dismiss() }

    /// Reads the screen's body again, soon; several requests together have one effect.
    public func redraw() { actions.redraw() }
}

/// The part of an agent that differs between screens of plugins and of the program.
package protocol AgentActions: Sendable {
    func begin() -> Call
    func resolve<C: Contract>(_ type: C.Type, where isWanted: (ManagerDescription) -> Bool)
        async throws(BackplaneError) -> Wire<C>
    func resolve<Service>(service type: Service.Type, where isWanted: (Service) -> Bool)
        throws(BackplaneError) -> Service
    func perform(_ destination: Destination) async throws(BackplaneError)
    func dismiss() async throws(BackplaneError)
    func redraw()
}
