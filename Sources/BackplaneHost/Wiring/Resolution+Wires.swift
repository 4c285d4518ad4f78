internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// Compares the wires that a manager's classes declare with what the manifest would connect them to.
    mutating func compareWires(of name: String) {
        guard let definition = definitions[name], let choice = choices[name] else { return }
        compareManager(name, definition, choice)
        if let controller = definition.communicationController, let entry = choice.communicationController {
            compareServices(of: name, entry, controller, choice.services)
        }
    }

    private mutating func compareManager(_ name: String, _ definition: ManagerDefinition, _ choice: Resolution.Choice) {
        let path = root / name
        for (label, used) in definition.uses.sorted(by: { $0.key < $1.key }) where definitions[used] == nil && errors[used] == nil {
            let path = path / "uses" / label
            let others = mayHint() ? names : nil
            report(.unknownManager(document.shown(used, at: path), among: others, at: document.place(of: path)), of: name)
        }
        guard let user = choice.manager else { return }

        let dataAccess = Socket(isFilled: definition.dataAccessController != nil, provider: choice.dataAccessController?.entry, at: path / ReservedLabel.dataAccessController)
        let communication = Socket(isFilled: definition.communicationController != nil, provider: choice.communicationController, at: path / ReservedLabel.communicationController)
        for wire in user.component.wires {
            switch wire.label {
            case ReservedLabel.dataAccessController:
                compare(wire, of: user, in: name, with: dataAccess, value: "className")
            case ReservedLabel.communicationController:
                compare(wire, of: user, in: name, with: communication, value: "className")
            default:
                let used = definition.uses[wire.label]
                let socket = Socket(isFilled: used != nil, provider: used.flatMap { choices[$0]?.manager }, at: path / "uses" / wire.label)
                compare(wire, of: user, in: name, with: socket)
            }
        }

        let labels = user.component.wires.map(\.label)
        for (label, socket) in [(ReservedLabel.dataAccessController, dataAccess), (ReservedLabel.communicationController, communication)]
        where socket.isFilled && !labels.contains(label) {
            report(.wireUnknown, "\(user) does not ask for a `\(label)`; it is created but nobody can call it", of: name, at: socket.path, severity: .warning)
        }
        let usable = labels.filter { $0 != ReservedLabel.dataAccessController && $0 != ReservedLabel.communicationController }
        for label in definition.uses.keys.sorted() where !usable.contains(label) {
            report(.wireUnknown, "\(user) uses no `\(label)`; \(declared(usable, beside: label))", of: name, at: path / "uses" / label)
        }
    }

    private mutating func compareServices(
        of name: String, _ user: Catalogue.Entry, _ controller: CommunicationControllerDefinition, _ services: [Resolution.Identity?]
    ) {
        let path = root / name / ReservedLabel.communicationController / "services"
        let labels = user.component.wires.map(\.label)
        for wire in user.component.wires {
            let index = controller.services.firstIndex { $0.propertyName == wire.label }
            let socket = Socket(isFilled: index != nil, provider: index.flatMap { services[$0]?.entry }, at: index.map { path / $0 } ?? path)
            compare(wire, of: user, in: name, with: socket, value: "className")
        }
        for (index, service) in controller.services.enumerated() where !labels.contains(service.propertyName) {
            let property = document.shown(service.propertyName, at: path / index / "propertyName")
            let className = document.shown(service.className, at: path / index / "className")
            let words = "\(user) has no property `\(property)` for `\(className)`; \(declared(labels, beside: service.propertyName))"
            report(.wireUnknown, words, of: name, at: path / index / "propertyName")
        }
    }

    private func declared(_ labels: [String], beside label: String) -> String {
        let suggestions = NameSuggestions(for: label, among: labels)
        return labels.isEmpty ? "it declares none" : suggestions.question ?? "it declares \(suggestions.list)"
    }

    /// The place in the manifest where a wire's collaborator is given, or would be.
    private struct Socket {
        /// Whether the manifest gives one.
        var isFilled: Bool
        /// The component chosen for it; `nil` also if none fits, which has been reported.
        var provider: Catalogue.Entry?
        var path: ManifestPath

        init(isFilled: Bool, provider: Catalogue.Entry?, at path: ManifestPath) {
            (self.isFilled, self.provider, self.path) = (isFilled, provider, path)
        }
    }

    /// - Parameter value: the key below the socket's place that says what the collaborator is.
    private mutating func compare(_ wire: WireDescription, of user: Catalogue.Entry, in name: String, with socket: Socket, value: String? = nil) {
        var need: String { "\(user) asks for `\(wire.contract.name)` \(wire.contract.version) as `\(wire.label)`" }
        guard socket.isFilled else {
            if !wire.isOptional { report(.wireUnsatisfied, "\(need); the manifest gives it none", of: name, at: socket.path) }
            return
        }
        guard let provider = socket.provider else { return }
        var path: ManifestPath { value.map { socket.path / $0 } ?? socket.path }
        if let difference = provider.component.contract.difference(from: wire.contract) {
            report(.wireMismatch, "\(need); \(provider) \(difference)", of: name, at: path)
        } else if let missing = provider.component.contract?.missing(from: wire.contract), !missing.isEmpty {
            let words = "\(need); \(provider) provides that without \(NameSuggestions.list(missing)), and calls of it fail"
            report(.callUnimplemented, words, of: name, at: path, severity: .warning)
        }
    }
}

extension ContractDescription? {
    /// In what this is not what a user needs, as the end of a sentence about the provider; `nil`: in nothing.
    func difference(from needed: ContractDescription) -> String? {
        guard let own = self else { return "provides no contract" }
        let provides = "provides `\(own.name)` \(own.version)"
        guard own.name == needed.name else { return provides }
        guard own.version.serves(needed.version) else {
            let reason = own.version.major == needed.version.major ? "an earlier one" : "another major version"
            return "\(provides), \(reason)"
        }
        if own.methods == needed.methods { return nil }
        let kinds = Dictionary(own.methods.map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
        if let other = needed.methods.first(where: { method in kinds[method.name].map { $0 != method.kind } ?? false }) {
            return "\(provides) with `\(other.name)` \(other.kind == .async ? "synchronous" : "asynchronous"), not \(other.kind == .async ? "asynchronous" : "synchronous")"
        }
        return nil
    }
}

extension ContractDescription {
    /// The methods that a user knows and this does not have: a call of one of them is `call.unimplemented`.
    func missing(from needed: ContractDescription) -> [String] {
        if methods == needed.methods { return [] }
        let names = Set(methods.map(\.name))
        return needed.methods.map(\.name).filter { !names.contains($0) }
    }
}
