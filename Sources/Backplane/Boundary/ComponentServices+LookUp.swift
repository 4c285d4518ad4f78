import CBackplane

extension ComponentServices {
    /// Requests a wire to a manager from the host.
    func find<C: Contract>(_ name: String, _: C.Type, _ call: Call?) async throws(BackplaneError) -> Wire<C> {
        let needed = contracts.neededWire(C.self)
        if let problem = needed.wire.problems.first { throw BackplaneError(.wireMismatch, problem) }
        let table = try calls()
        let found: Result<Found, BackplaneError> = await withUnsafeContinuation { continuation in
            let context = Box<@Sendable (Result<Found, BackplaneError>) -> Void> { continuation.resume(returning: $0) }
                .toContext()
            name.withBytes { name in
                if let call {
                    call.withC {
                        table.pointer.pointee.find(handle, name, needed.descriptor.pointer, $0, received, context)
                    }
                } else {
                    table.pointer.pointee.find(handle, name, needed.descriptor.pointer, nil, received, context)
                }
            }
        }
        let connection = try found.get()
        let wire = connection.wire
        guard
            let slot = connection.slot
                ?? ownSlots.slot(of: wire, { needed.wire.ownSlot(component: handle, wire: wire, host) })
        else {
            throw BackplaneError(
                .interfaceMissing,
                "the host connects \(name) in a way that this version of the SDK does not support; rebuild the plugin with a newer SDK"
            )
        }
        return Wire(slot)
    }

    /// Returns the managers that serve a contract.
    func providers<C: Contract>(of _: C.Type) async throws(BackplaneError) -> [ManagerDescription] {
        let answer = PendingAnswer()
        try calls().pointer.pointee.providers(
            handle, contracts.neededWire(C.self).descriptor.pointer, PendingAnswer.done, answer.toContext())
        // A lookup takes no time worth cancelling.
        return try JSON.decode([ListedManager].self, await answer.wait {}.get(), failing: .callInvalidOutput).map(
            \.description)
    }

    private func calls() throws(BackplaneError) -> ConstantPointer<bp_calls_1> {
        guard let table = host.table(BP_CALLS, revision: 1, as: bp_calls_1.self) else {
            throw BackplaneError(
                .interfaceMissing, "the host does not offer \(BP_CALLS)/1, which is needed to look up managers")
        }
        return table
    }
}

/// A manager in the host's list.
private struct ListedManager: Decodable {
    let description: ManagerDescription

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        description = ManagerDescription(
            name: try container.decode(String.self, forKey: TextKey("name")),
            className: try container.decode(String.self, forKey: TextKey("className")),
            version: try container.decode(Version.self, forKey: TextKey("version")),
            plugin: try container.decode(String.self, forKey: TextKey("plugin")))
    }
}

/// The result of a lookup.
private struct Found: Sendable {
    var wire: UInt64
    /// The slot of the wire; `nil` if the host has another lane revision, and the SDK creates the slot.
    var slot: Slot?
}

private let received: bp_found = { context, status, found, payload in
    let answer: Result<Found, BackplaneError>
    if status == Int32(BP_OK), let found {
        let connection: bp_connection = read(found)
        answer = .success(
            Found(wire: connection.wire, slot: connection.slot.map { Slot($0.assumingMemoryBound(to: bp_slot.self)) }))
    } else {
        answer = .failure(EncodedAnswer(status, payload).error)
    }
    Box<@Sendable (Result<Found, BackplaneError>) -> Void>.take(context)(answer)
}
