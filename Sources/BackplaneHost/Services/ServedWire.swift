import Backplane

/// A wire of a component that calls through the host: a plugin without the Swift SDK.
struct ServedWire: Sendable {
    private let slot: Slot
    private let provider: ComponentCalls
    /// The provider's number for each method that the wire declares; `nil`: it has none of that name.
    private let numbers: [Int?]
    private let names: [String]

    /// - Parameter slot: open for as long as the provider may be called.
    init(_ slot: Slot, to provider: ComponentCalls, methods: [MethodDescription]) {
        (self.slot, self.provider, names) = (slot, provider, methods.map(\.name))
        numbers = methods.map { method in provider.methods.firstIndex { $0.name == method.name } }
    }

    /// Calls the provider on behalf of the component; returns an id to cancel by, 0 when it has ended already.
    func call(_ method: Int, _ input: [UInt8], _ call: Call, _ done: @escaping @Sendable (EncodedAnswer) -> Void) -> UInt64 {
        guard let lease = Lease(slot) else {
            done(EncodedAnswer(BackplaneError(.callRetired, "the component called has stopped, or its host has")))
            return 0
        }
        guard numbers.indices.contains(method), let number = numbers[method] else {
            lease.end()
            let name = names.indices.contains(method) ? "`\(names[method])`" : "number \(method)"
            done(EncodedAnswer(BackplaneError(.callUnimplemented, "the component called has no method \(name)")))
            return 0
        }
        return provider.call(number, input, lease.appended(to: call)) { answer in
            lease.end()
            done(answer)
        }
    }

    func cancel(_ id: UInt64) {
        provider.cancel(id)
    }
}
