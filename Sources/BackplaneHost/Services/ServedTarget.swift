import Backplane
import BackplaneDocuments

/// The target of the calls that the host makes on behalf of a wire's user, part of the binding that a call leases.
final class ServedTarget: Sendable {
    let provider: ComponentCalls
    /// The provider's number of each method that the wire declares, or `nil` if it has no method of that name.
    private let numbers: [Int?]

    /// Creates a target that maps method numbers.
    ///
    /// - Parameter methods: The methods that the wire declares.
    init(_ provider: ComponentCalls, _ methods: [MethodDescription]) {
        self.provider = provider
        numbers = methods.map { method in provider.number(of: method.name) }
    }

    /// Returns the provider's number of a method.
    ///
    /// - Throws: `call.unimplemented` if the provider has no such method.
    func number(of method: ServedWire.Method, _ methods: [MethodDescription]) throws(BackplaneError) -> Int {
        switch method {
        case .declared(let index):
            if let number = numbers[index] { return number }
            throw BackplaneError(.callUnimplemented, "the called component has no method `\(methods[index].name)`")
        case .named(let name):
            if let number = provider.number(of: name) { return number }
            let names = provider.methods.map(\.name)
            let hint =
                NameSuggestions(for: name, among: names).question
                ?? "it has \(names.isEmpty ? "none" : NameSuggestions.list(names))"
            throw BackplaneError(.callUnimplemented, "\(provider.name) has no method `\(name)`; \(hint)")
        }
    }
}
