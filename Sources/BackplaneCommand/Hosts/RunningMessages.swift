import BackplaneControl
import BackplaneHost

/// A request for the components of a host's plugins; answered by hosts of `backplane run` only.
struct ServicesRequest: ControlMessage {
    static let name = "services"
    typealias Answer = ServiceList
}

/// A request to explain a manager; answered by hosts of `backplane run` only.
struct ExplainRequest: ControlMessage {
    static let name = "explain"
    typealias Answer = Explanation
    var manager: String
}

/// A request for the wires of a host; answered by hosts of `backplane run` only.
struct WiresRequest: ControlMessage {
    static let name = "wires"
    typealias Answer = [WireRow]
}
