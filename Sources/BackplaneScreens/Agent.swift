public import Backplane

/// A screen's access to its application, which resolves contracts and requests transitions.
///
/// An agent cannot register anything, and cannot return a screen. Once its screen is no longer shown, or its host has
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

    /// Shows another screen, and returns once it is shown.
    ///
    /// While the agent's own screen is being assembled, the function returns at once.
    ///
    /// - Throws: `screen.unknown`, `screen.invalid-input`, or the error of the other screen's assembly;
    ///   `screen.closed`; `call.cancelled`, without an alert, if the person does something else before the other screen
    ///   is shown; `call.cancelled` in a cancelled task, although the segue continues.
    public func performSegue<S: Screen>(to screen: S.Type, data: S.Input) async throws(BackplaneError) {
        try await actions.perform(try Destination(screen, data))
    }

    /// Shows a screen of any module, and returns once it is shown.
    ///
    /// While the agent's own screen is being assembled, the function returns at once.
    ///
    /// - Throws: The errors of a segue to a type of screen.
    public func performSegue(to identifier: String, data: some Encodable & Sendable = Nothing())
        async throws(BackplaneError)
    {
        try await actions.perform(try Destination(identifier, data))
    }

    /// Dismisses the screen of the agent, and returns once it is dismissed.
    ///
    /// While the screen is being assembled, the function returns at once.
    ///
    /// - Throws: `screen.closed`; `call.cancelled` in a cancelled task.
    public func dismiss() async throws(BackplaneError) { try await actions.dismiss() }

    /// Requests that the screen's body is read again soon; several requests together have one effect.
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
