import Backplane
import BackplaneBoundary

/// The methods that a wire's user declares and its provider's active code has, but the new code lacks.
struct RemovedMethods: Hashable {
    /// The user's name, or `nil` for the host program.
    let user: String?
    let label: String
    let provider: String
    let contract: ContractDescription
    let names: [String]
    /// The location of the provider's definition in the manifest.
    let location: String

    /// Compares the code of a provider with its successor, or returns `nil` if the user loses nothing.
    init?(
        _ user: String?, _ label: String, needing contract: ContractDescription, of provider: Plan.Node,
        from old: ContractDescription?, to new: ContractDescription?
    ) {
        // Another contract is a mismatch, which is reported as such.
        guard let old, let new, old.name == contract.name, new.name == contract.name else { return nil }
        let never = Set(old.missing(from: contract))
        names = new.missing(from: contract).filter { !never.contains($0) }
        guard !names.isEmpty else { return nil }
        (self.user, self.label, self.contract) = (user, label, contract)
        (self.provider, location) = (provider.name, provider.location)
    }

    var error: BackplaneError {
        let methods = names.map { "`\($0)`" }.joined(separator: ", ")
        let caller = user.map { "\($0), through its wire `\(label)`," } ?? "the host program"
        return BackplaneError(
            .callUnimplemented,
            "\(caller) calls \(methods) of `\(contract.name)`, which the active code of \(provider) provides and the "
                + "new code lacks; change the caller together with it, keep the method, or allow the removal "
                + "(`SwapOptions.allowsMissingMethods`)",
            at: location)
    }
}

extension LoadedManifest {
    /// Returns the methods that wires of this manifest use and that their providers lose with another manifest.
    ///
    /// A user that also changes is judged by its new code; new wires are not judged.
    func methodsRemoved(in new: LoadedManifest, _ succession: Succession) -> [RemovedMethods] {
        let before = succession.before.map { place in place.map { plan.nodes[$0] } }
        return new.plan.nodes.flatMap { user -> [RemovedMethods] in
            guard let known = before[user.id] else { return [] }
            let type = new.componentClass(of: user)
            return user.wires.compactMap { link in
                let provider = new.plan.nodes[link.provider]
                guard let old = before[provider.id], !isSame(old.entry, in: new, provider.entry),
                    known.wires.contains(where: { $0.label == link.label && $0.provider == old.id }),
                    let contract = type.consumerSide(ofWire: link.label)?.contract
                else { return nil }
                return RemovedMethods(
                    user.name, link.label, needing: contract, of: provider, from: old.entry.component.contract,
                    to: provider.entry.component.contract)
            }
        }
    }
}
