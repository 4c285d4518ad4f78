import Backplane
import BackplaneControl
import BackplaneHost

/// A request for the components of a host's plugins; answered only by hosts that this tool runs.
struct ServicesRequest: ControlMessage {
    static let name = "services"
    typealias Answer = ServiceList
}

/// A request to explain a manager; answered only by hosts that this tool runs.
struct ExplainRequest: ControlMessage {
    static let name = "explain"
    typealias Answer = Explanation
    var manager: String
}

/// A request for the methods of a manager; answered only by hosts that this tool runs.
struct MethodsRequest: ControlMessage {
    static let name = "methods"
    typealias Answer = MethodList
    var manager: String
}

/// A request for the wires of a host; answered only by hosts that this tool runs.
struct WiresRequest: ControlMessage {
    static let name = "wires"
    typealias Answer = [WireRow]
}

extension ControlRequest {
    /// The control requests that this tool's hosts answer in addition to those of every host.
    static let ofTool = [services, explain, methods, wires]

    private static let services = ControlRequest(ServicesRequest.self, endsWithClient: true) {
        host, _ throws(BackplaneError) in
        ServiceList(await host.composition())
    }

    private static let explain = ControlRequest(ExplainRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        try Explanation(of: request.manager, in: await host.composition()).living(await host.managers)
    }

    private static let methods = ControlRequest(MethodsRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        MethodList(try await host.providerSide(ofManager: request.manager))
    }

    private static let wires = ControlRequest(WiresRequest.self, endsWithClient: true) {
        host, _ throws(BackplaneError) in
        await host.wires.map(WireRow.init)
    }
}

extension Explanation {
    /// Returns the explanation with the current states of the manager and of the managers it uses.
    fileprivate func living(_ managers: [ManagerStatus]) -> Explanation {
        let lives = Dictionary(managers.map { ($0.name, Life($0.state)) }) { first, _ in first }
        var explanation = self
        explanation.life = lives[manager]
        for index in uses.indices { explanation.uses[index].life = lives[uses[index].manager] }
        return explanation
    }
}

extension Explanation.Life {
    fileprivate init(_ state: ManagerState) {
        self.state = state.description
        switch state {
        case .unsatisfied(let error), .failed(let error): reason = error.description
        case .resolved, .starting, .ready, .quiescing, .stopped: break
        }
    }
}
