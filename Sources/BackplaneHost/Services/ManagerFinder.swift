public import Backplane
import BackplaneBoundary
import CBackplane

/// The means by which one component looks up managers that its wires do not name.
struct ManagerFinder: Sendable {
    typealias Found = Result<OpenWire, BackplaneError>

    /// The component's class.
    let asker: ComponentClass
    /// The function that looks up a manager by its name and contract.
    let find: @Sendable (_ manager: String, NeededEnd, Call?) async -> Found
    /// Returns the managers that serve a contract, as JSON.
    let providers: @Sendable (ContractDescription) async -> EncodedAnswer
}

/// The plugin's callback for the result of a lookup, called exactly once with its context.
struct FoundReply: Sendable {
    private let done: bp_found
    /// The plugin's own context, which is passed back unchanged.
    private let context: ForeignPointer

    init(_ done: @escaping bp_found, _ context: UnsafeMutableRawPointer?) {
        (self.done, self.context) = (done, ForeignPointer(raw: context))
    }

    func end(_ found: ManagerFinder.Found, sharesSlots: Bool) {
        switch found {
        case .success(let wire):
            wire.withC(sharesSlots: sharesSlots) { done(context.raw, Int32(BP_OK), $0, bp_bytes(data: nil, length: 0)) }
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { done(context.raw, answer.status, nil, $0) }
        }
    }
}

extension OpenWire {
    fileprivate func withC(sharesSlots: Bool, _ body: (UnsafePointer<bp_connection>) -> Void) {
        label.withBytes { label in
            var connection = bp_connection(
                size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: label, wire: id,
                slot: sharesSlots ? slot.address : nil)
            body(&connection)
        }
    }
}

/// The JSON that plugins read when they search for managers.
extension ManagerDescription: Encodable {
    private enum CodingKeys: String, CodingKey { case name, className, version, plugin }

    /// Encodes the name, class name, version and plugin.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(className, forKey: .className)
        try container.encode(version, forKey: .version)
        try container.encode(plugin, forKey: .plugin)
    }
}
