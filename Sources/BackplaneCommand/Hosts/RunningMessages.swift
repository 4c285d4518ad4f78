import BackplaneControl
import BackplaneHost

/// What hosts of this tool answer besides what every host does.
struct ServicesRequest: ControlMessage {
    static let name = "services"
    typealias Answer = ServiceList
}

struct ExplainRequest: ControlMessage {
    static let name = "explain"
    typealias Answer = Explanation
    var manager: String
}

struct WiresRequest: ControlMessage {
    static let name = "wires"
    typealias Answer = [WireRow]
}
