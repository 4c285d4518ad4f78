import Backplane

extension Plan.Node {
    /// What messages call it: a manager by its name in the manifest, anything else by its class.
    var name: String {
        role == .manager ? managers[0] : entry.component.className
    }
}

extension Plan.Node {
    /// - Throws: `wire.mismatch` when it does not provide what is needed.
    func requireService(of needed: ContractDescription) throws(BackplaneError) {
        guard let difference = entry.component.contract.difference(from: needed) else { return }
        throw mismatch(with: needed, difference)
    }

    func mismatch(with needed: ContractDescription, _ difference: String) -> BackplaneError {
        BackplaneError(.wireMismatch, "`\(needed.name)` \(needed.version) was asked of \(name); \(entry) \(difference)", at: location)
    }
}
