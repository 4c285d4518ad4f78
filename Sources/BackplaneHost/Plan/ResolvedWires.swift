import Backplane
import BackplaneDocuments

extension Resolution.Draft {
    /// Compares the wires declared by a manager's classes with the providers that the manifest assigns to them.
    mutating func compareWires(of name: String, _ fit: Resolution.Fit) {
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
                compare(wire, of: user, in: name, with: definition.socket(of: wire.label, of: role, at: path), fit)
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
        for service in (choices[name] ?? []).map(\.definition) where service.role == .networkService {
            let property = service.address.label
            guard !labels.contains(property) else { continue }
            let suggestions = mayHint() ? NameSuggestions(for: property, among: labels) : nil
            let words =
                "\(user) has no property `\(document.shownProperty(of: service) ?? property)` for `\(document.shownClassName(of: service))`; \(declared(labels, suggestions))"
            // A missing service has no location of its own, so its property stands for it.
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
        _ wire: WireDescription, of user: Catalogue.Entry, in name: String, with socket: Socket, _ fit: Resolution.Fit
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
            return report(.wireMismatch, "\(need), but \(provider) \(difference)", of: name, at: path)
        }
        let fit = fit(user, wire.label, provider)
        if case .unreadable(let words) = fit {
            report(.wireMismatch, "\(need), but \(words); \(ContractFit.advice)", of: name, at: path)
        } else if let missing = provider.component.contract?.missing(from: wire.contract), !missing.isEmpty {
            let words =
                "\(need); \(provider) provides it without \(NameSuggestions.list(missing)), so calls to that fail"
            report(.callUnimplemented, words, of: name, at: path, severity: .warning)
        } else if case .encoded(let reason) = fit {
            let words = "\(need), but its calls are encoded, which is slower: \(reason)"
            report(.wireEncoded, words, of: name, at: path, severity: .warning)
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

extension Resolution.Draft {
    /// Reports managers that use one another in a cycle, and managers that use one with errors.
    mutating func compareDependencies() {
        let graph = useGraph
        var origins: [String: String] = [:]
        for component in graph.components() {
            if component.count > 1 || graph.uses[component[0]].contains(component[0]) {
                reportCircles(among: component, in: graph)
            }
            // Each manager in a cycle already has an error that names the others.
            let circle = Set(component.map { names[$0] })
            for node in component { reportFaultyUses(of: names[node], except: circle, &origins) }
        }
    }

    /// Returns the plan with the nodes of managers without errors, and the faults of the others.
    func plan() -> Plan {
        var builder = Plan.Builder(document)
        // Managers in a cycle, or behind one, have errors.
        for name in useGraph.components().joined().map({ names[$0] }) where errors[name] == nil {
            guard let definition = definitions[name], let choices = choices[name] else { continue }
            builder.add(name, definition, choices)
        }
        let faults = errors.map { name, _ in (name, fault(of: name)) }
        return Plan(
            nodes: builder.nodes, managers: builder.managers, faults: Dictionary(uniqueKeysWithValues: faults),
            documentErrors: problems.filter { $0.severity == .error && $0.manager == nil }.map(\.error),
            dataNamespaces: Set(
                definitions.values.compactMap(\.dataAccessController).map { $0.namespace ?? $0.className }),
            routes: routes.filter { builder.managers[$0.manager] != nil },
            screens: screens.filter { builder.managers[$0.value] != nil })
    }

    private var useGraph: UseGraph {
        let numbers = Dictionary(uniqueKeysWithValues: zip(names, names.indices))
        return UseGraph(
            uses: names.map { name in
                Set(definitions[name]?.uses.values.compactMap { numbers[$0] } ?? []).sorted()
            })
    }

    private func fault(of name: String) -> BackplaneError {
        let problems = errors[name] ?? [], causes = problems.filter { !$0.isConsequence }
        let errors = (causes.isEmpty ? problems : causes).map(\.error)
        let fault = BackplaneError.combining(errors, of: "`\(name)`", at: document.place(of: root / name))
        // The class may be in a library that is not loaded.
        guard causes.isEmpty, fault.code == .unknownClass else { return fault }
        let reason: String
        if let missing = loadErrors.first {
            let others = loadErrors.count > 1 ? "\(loadErrors.count) libraries are not loaded, the first: " : ""
            reason = others + missing.message
        } else if let misspelt = self.problems.first(where: { $0.manager == nil && $0.intended == Self.plugins }) {
            reason = misspelt.error.message
        } else {
            return fault
        }
        return BackplaneError(
            fault.code, "\(reason); probably for that reason, \(errors[0].message)", at: fault.location,
            causes: fault.causes)
    }

    /// Reports a cycle for every member of a group, at the use that continues the cycle.
    private mutating func reportCircles(among component: [Int], in graph: UseGraph) {
        var left = Set(component)
        for start in component where left.contains(start) {
            guard let circle = graph.circle(from: start, within: Set(component)) else { continue }
            let words = "managers use one another in a cycle: " + Self.drawn((circle + [start]).map { names[$0] })
            for (user, used) in zip(circle, circle.dropFirst() + [start]) where left.remove(user) != nil {
                let label = definitions[names[user]]?.uses.filter { $0.value == names[used] }.keys.min() ?? ""
                report(.dependencyCycle, words, of: names[user], at: root / names[user] / "uses" / label)
            }
        }
    }

    /// Returns a cycle on one line; a long one is shortened in the middle.
    private static func drawn(_ names: [String]) -> String {
        let most = 20
        guard names.count > most else { return names.joined(separator: " → ") }
        return (names.prefix(most / 2) + ["… \(names.count - most) more …"] + names.suffix(most / 2)).joined(
            separator: " → ")
    }

    /// Reports the uses of managers that cannot be created.
    ///
    /// - Parameter origins: For each manager with a fault, the manager in which the fault originated.
    private mutating func reportFaultyUses(
        of name: String, except circle: Set<String>, _ origins: inout [String: String]
    ) {
        if errors[name] != nil { origins[name] = name }
        for (label, used) in (definitions[name]?.uses ?? [:]).sorted(by: { $0.key < $1.key })
        where errors[used] != nil && !circle.contains(used) {
            let origin = origins[used] ?? used
            let cause = fault(of: origin).withoutFurtherManagers
            let through = origin == used ? "" : " because `\(origin)` cannot"
            let words = "`\(used)` cannot be created\(through): \(cause.message)"
            report(
                .dependencyUnsatisfied, words, of: name, at: root / name / "uses" / label, causes: [cause],
                isConsequence: true)
            if origins[name] == nil { origins[name] = origin }
        }
    }
}

extension BackplaneError {
    /// The error without the causes of faults in other managers, which those managers report themselves.
    ///
    /// Otherwise the chain of causes of each manager could include all managers of the manifest.
    fileprivate var withoutFurtherManagers: BackplaneError {
        var error = self
        for index in causes.indices where causes[index].code == .dependencyUnsatisfied {
            error.causes[index].causes = []
        }
        return error
    }
}
