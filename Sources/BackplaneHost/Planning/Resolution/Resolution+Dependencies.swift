internal import Backplane
internal import BackplaneDocuments

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
        for node in useGraph.order(of: { errors[names[$0]] == nil }) {
            let name = names[node]
            guard let definition = definitions[name], let choices = choices[name] else { continue }
            builder.add(name, definition, choices)
        }
        let faults = errors.map { name, _ in (name, fault(of: name)) }
        return Plan(
            nodes: builder.nodes, managers: builder.managers, faults: Dictionary(uniqueKeysWithValues: faults),
            documentErrors: problems.filter { $0.severity == .error && $0.manager == nil }.map(\.error),
            dataNamespaces: Set(definitions.values.compactMap(\.dataAccessController?.folderName)))
    }

    private var useGraph: Resolution.UseGraph {
        let numbers = Dictionary(uniqueKeysWithValues: zip(names, names.indices))
        return Resolution.UseGraph(
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
            let which =
                loadErrors.count > 1
                ? "one of \(loadErrors.count) libraries that are not loaded, the first" : "a library that is not loaded"
            reason = "it may be in \(which): \(missing.message)"
        } else if let misspelt = self.problems.first(where: { $0.manager == nil && $0.intended == Self.plugins }) {
            reason = misspelt.error.message
        } else {
            return fault
        }
        return BackplaneError(
            fault.code, "\(errors[0].message); \(reason)", at: fault.location, causes: fault.causes)
    }

    /// Reports a cycle for every member of a group, at the use that continues the cycle.
    private mutating func reportCircles(among component: [Int], in graph: Resolution.UseGraph) {
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
