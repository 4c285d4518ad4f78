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
