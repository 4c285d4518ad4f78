import Backplane

/// Whom the calls of a wire go to that the host makes for its user; it stands in the binding that a call leases.
final class ServedTarget: Sendable {
    let provider: ComponentCalls
    /// Its number for each method that the wire declares; `nil`: it has none of that name.
    private let numbers: [Int?]

    /// - Parameter methods: those that the wire declares.
    init(_ provider: ComponentCalls, _ methods: [MethodDescription]) {
        self.provider = provider
        numbers = methods.map { method in provider.number(of: method.name) }
    }

    /// - Throws: `call.unimplemented`.
    func number(of method: ServedWire.Method, _ methods: [MethodDescription]) throws(BackplaneError) -> Int {
        switch method {
        case .declared(let index):
            if let number = numbers[index] { return number }
            throw BackplaneError(.callUnimplemented, "the component called has no method `\(methods[index].name)`")
        case .named(let name):
            if let number = provider.number(of: name) { return number }
            let names = provider.methods.map { "`\($0.name)`" }.joined(separator: ", ")
            throw BackplaneError(.callUnimplemented, "\(provider.name) has no method `\(name)`; it has \(names.isEmpty ? "none" : names)")
        }
    }
}
