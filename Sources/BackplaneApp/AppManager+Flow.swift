import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneScreens

/// The decisions of the manager that the manifest names as `flow`.
extension AppManager {
    /// Lets the flow set a window up; returns `false` if there is no flow, or the flow leaves the setup to the
    /// manifest.
    func isSetUpByFlow(_ window: Window) async throws -> Bool {
        guard let flow = try await flow else { return false }
        let request = window.flowRequest()
        let decision = try await decide { call in try await flow.setup(request, call) }
        guard decision.action != .none else { return false }
        guard decision.action == .replace else {
            throw BackplaneError(
                .callInvalidOutput,
                "the flow has decided `\(decision.action.rawValue)` for a new window, which needs `replace` or `none`")
        }
        window.setRoot(try await target(of: decision, nil, in: window))
        return true
    }

    /// Lets the flow show a screen; returns `false` if there is no flow.
    func isShownByFlow(_ screen: WindowScreen, from source: WindowScreen?, in window: Window) async throws -> Bool {
        guard let flow = try await flow else { return false }
        let request = window.flowRequest(screen.destination, from: source)
        let decision = try await decide { call in try await flow.show(request, call) }
        try await perform(decision, showing: screen, from: source, in: window)
        return true
    }

    /// Lets the flow dismiss a screen; returns `false` if there is no flow.
    func isDismissedByFlow(_ screen: WindowScreen, in window: Window) async throws -> Bool {
        guard let flow = try await flow else { return false }
        let request = window.flowRequest(screen.destination)
        let decision = try await decide { call in try await flow.dismiss(request, call) }
        try await perform(decision, dismissing: screen, in: window)
        return true
    }

    private var flow: Remote<Flow>? {
        get async throws(BackplaneError) {
            guard let name = host.screens.table.settings?.flow else { return nil }
            return try await host.manager(name, as: Flow.self)
        }
    }

    private func decide(
        _ decision: @escaping @Sendable (Call) async throws -> FlowDecision
    ) async throws -> FlowDecision {
        let call = host.begin()
        return try await Race.run(
            by: host.clock, { try await decision(call) }, within: Self.limit,
            otherwise: BackplaneError(.callDeadline, "the flow did not decide within \(Self.limit)"))
    }

    private func perform(
        _ decision: FlowDecision, showing screen: WindowScreen? = nil, dismissing leaving: WindowScreen? = nil,
        from source: WindowScreen? = nil, in window: Window
    ) async throws(BackplaneError) {
        if let tab = decision.tab { await window.select(tab: tab) }
        switch decision.action {
        case .none, .select: break
        case .push:
            // Another tab has a stack of its own.
            let source = decision.tab == nil ? source : nil
            window.push(try await target(of: decision, screen, in: window), onto: source)
        case .present: window.present(try await target(of: decision, screen, in: window))
        case .replace: window.replace(try await target(of: decision, screen, in: window))
        case .pop: if let leaving { window.remove(leaving) } else { window.pop() }
        case .popToRoot: window.popToRoot()
        }
    }

    /// Returns the screen that a decision shows: the requested one, or the one that the decision names.
    private func target(of decision: FlowDecision, _ screen: WindowScreen?, in window: Window)
        async throws(BackplaneError) -> WindowScreen
    {
        if let destination = decision.destination { return try await assemble(destination, in: window) }
        guard let screen else {
            throw BackplaneError(
                .callInvalidOutput, "the flow has decided `\(decision.action.rawValue)` without a screen; name one")
        }
        return screen
    }
}
