internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// Compares the wires declared by a manager's classes with the providers that the manifest assigns to them.
    mutating func compareWires(of name: String) {
        guard let definition = definitions[name] else { return }
        let path = root / name
        for (label, used) in definition.uses.sorted(by: { $0.key < $1.key })
        where definitions[used] == nil && errors[used] == nil {
            let path = path / "uses" / label
            let others = mayHint() ? names : nil
            report(
                .unknownManager(document.shown(used, at: path), among: others, at: document.place(of: path)), of: name)
        }
        for choice in choices[name] ?? [] {
            guard let user = choice.entry else { continue }
            let role = choice.definition.role
            guard role == .manager || role == .communicationController else { continue }
            // First, because a misspelt entry is the cause of a wire that nothing is connected to.
            if role == .manager {
                findUnused(by: user, definition, of: name)
            } else {
                findUnusedServices(by: user, of: name)
            }
            for wire in user.component.wires {
                compare(wire, of: user, in: name, with: definition.socket(of: wire.label, of: role, at: path))
            }
        }
    }

    /// Reports entries of a manager's definition that its class does not declare.
    private mutating func findUnused(by user: Catalogue.Entry, _ definition: ManagerDefinition, of name: String) {
        let layers = [ReservedLabel.dataAccessController, ReservedLabel.communicationController],
            labels = user.component.wires.map(\.label)
        for label in layers where !labels.contains(label) {
            let socket = definition.socket(of: label, of: .manager, at: root / name)
            guard socket.isFilled else { continue }
            report(
                .wireUnknown, "\(user) declares no wire `\(label)`; the component is created, but cannot be called",
                of: name,
                at: socket.path, severity: .warning)
        }
        let usable = labels.filter { !layers.contains($0) }
        for label in definition.uses.keys.sorted() where !usable.contains(label) {
            let suggestions = mayHint() ? NameSuggestions(for: label, among: usable) : nil
            report(
                .wireUnknown, "\(user) declares no wire `\(label)`; \(declared(usable, suggestions))", of: name,
                at: root / name / "uses" / label, intended: suggestions?.nearest.map { root / name / "uses" / $0 })
        }
    }

    /// Reports services that a communication controller's class does not declare.
    private mutating func findUnusedServices(by user: Catalogue.Entry, of name: String) {
        let labels = user.component.wires.map(\.label)
        for service in (choices[name] ?? []).map(\.definition) {
            guard let property = service.property, !labels.contains(property) else { continue }
            let suggestions = mayHint() ? NameSuggestions(for: property, among: labels) : nil
            let words =
                "\(user) has no property `\(service.writtenProperty ?? property)` for `\(service.writtenClassName)`; \(declared(labels, suggestions))"
            // A service that is not there has no place of its own; its property stands for it.
            let services = root / name / ReservedLabel.communicationController / "services"
            report(
                .wireUnknown, words, of: name, at: service.path / "propertyName",
                intended: suggestions?.nearest.map { services / $0 })
        }
    }

    private func declared(_ labels: [String], _ suggestions: NameSuggestions?) -> String {
        labels.isEmpty ? "it declares none" : suggestions?.question ?? "it declares \(NameSuggestions.list(labels))"
    }

    private mutating func compare(
        _ wire: WireDescription, of user: Catalogue.Entry, in name: String, with socket: Socket
    ) {
        var need: String { "\(user) asks for `\(wire.contract.name)` \(wire.contract.version) as `\(wire.label)`" }
        guard socket.isFilled else {
            if !wire.isOptional {
                let wanted = socket.role == .networkService ? socket.path / wire.label : socket.path
                report(
                    .wireUnsatisfied, "\(need); the manifest connects nothing to it", of: name, at: socket.path,
                    isConsequence: isMisspelt(wanted, of: name))
            }
            return
        }
        guard let provider = provider(of: wire, in: name, at: socket) else { return }
        // The path at which the manifest names the provider.
        var path: ManifestPath { socket.role == .manager ? socket.path : socket.path / "className" }
        if let difference = provider.component.contract.difference(from: wire.contract) {
            report(.wireMismatch, "\(need), but \(provider) \(difference)", of: name, at: path)
        } else if let missing = provider.component.contract?.missing(from: wire.contract), !missing.isEmpty {
            let words =
                "\(need); \(provider) provides it without \(NameSuggestions.list(missing)), so calls to that fail"
            report(.callUnimplemented, words, of: name, at: path, severity: .warning)
        }
    }

    /// Returns the component class chosen for a socket; `nil` if none matches, which has already been reported.
    private func provider(of wire: WireDescription, in name: String, at socket: Socket) -> Catalogue.Entry? {
        guard socket.role == .manager else { return choices[name]?.first { $0.definition.path == socket.path }?.entry }
        return definitions[name]?.uses[wire.label].flatMap { choices[$0]?.first?.entry }
    }
}

extension ContractDescription? {
    /// Describes how this contract falls short of a user's, worded to follow the provider's name; `nil` if it does not.
    func difference(from needed: ContractDescription) -> String? {
        guard let own = self else { return "provides no contract" }
        let provides = "provides `\(own.name)` \(own.version)"
        guard own.name == needed.name else { return provides }
        guard own.version.serves(needed.version) else {
            let reason = own.version.major == needed.version.major ? "an earlier version" : "another major version"
            return "\(provides), \(reason)"
        }
        if own.methods == needed.methods { return nil }
        let kinds = Dictionary(own.methods.map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
        for other in needed.methods {
            guard let kind = kinds[other.name], kind != other.kind else { continue }
            return "\(provides) with `\(other.name)` \(kind.adjective), not \(other.kind.adjective)"
        }
        return nil
    }
}

extension ContractDescription {
    /// Returns the methods that the user declares and this contract lacks; calls of them are `call.unimplemented`.
    func missing(from needed: ContractDescription) -> [String] {
        if methods == needed.methods { return [] }
        let names = Set(methods.map(\.name))
        return needed.methods.map(\.name).filter { !names.contains($0) }
    }
}
