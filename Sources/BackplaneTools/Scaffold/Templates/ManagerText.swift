extension ManagerLayers {
    /// The source of the manager.
    var managerText: String {
        switch (hasStore, hasService) {
        case (false, false): hasStream ? streamingManagerText : greeterText
        case (true, false): keepingManagerText
        case (false, true): askingManagerText
        case (true, true): sourcedManagerText
        }
    }

    private var greeterText: String {
        """
        import Backplane
        \(importsAllContracts)
        /// A manager that greets people by name.
        final class \(manager): Manager {
            typealias Provides = \(contract)
        \(wiresText([]))

            static func methods(_ table: inout Methods) {
                table.async(\\.greet) { _, name, _ in "Hello, \\(name)!" }
            }
        }

        """
    }

    private var keepingManagerText: String {
        """
        import Backplane
        \(importsAllContracts)
        /// A manager that stores items with its data access controller.
        final class \(manager): Manager {
            typealias Provides = \(contract)
        \(wiresText([("dataAccessController", archive)]))

            static func methods(_ table: inout Methods) {
                table.async(\\.items) { manager, _, call in try await manager.wires.dataAccessController.kept(call)?.value ?? [] }
                table.async(\\.add) { manager, item, call in try await manager.wires.dataAccessController.keep([item], call) }
            }
        }

        """
    }

    private var askingManagerText: String {
        """
        import Backplane
        \(importsAllContracts)
        /// A manager that returns the items of its network service.
        final class \(manager): Manager {
            typealias Provides = \(contract)
        \(wiresText([("communicationController", network)]))

            static func methods(_ table: inout Methods) {
                table.async(\\.items) { manager, _, call in try await manager.wires.communicationController.items(call) }
            }
        }

        """
    }

    private var sourcedManagerText: String {
        """
        import Backplane
        \(importsAllContracts)
        /// A manager that returns the items of its network service or, if the network fails, the stored ones.
        final class \(manager): Manager {
            typealias Provides = \(contract)
        \(wiresText([("dataAccessController", archive), ("communicationController", network)], hasLog: true))

            static func methods(_ table: inout Methods) {
                table.async(\\.items) { manager, _, call in try await manager.items(call) }
            }

            private func items(_ call: Call) async throws -> Sourced<[\(item)]> {
                try await Sourced.networkFirst(call, log: log) { call in
                    try await wires.communicationController.items(call)
                } keep: { items in
                    _ = try await wires.dataAccessController.keep(items, call)
                } kept: {
                    try await wires.dataAccessController.kept(call)
                }
            }
        }

        """
    }

    /// Returns the declaration of the manager's wires and its initialiser, indented as its members.
    func wiresText(_ own: [(label: String, contract: String)], hasLog: Bool = false) -> String {
        let wires = own + uses.map { ($0.label, $0.contract) }
        var lines: [String] = []
        if !wires.isEmpty {
            lines += ["struct Wires: Wiring {"] + wires.map { "    let \($0.label): Wire<\($0.contract)>" } + ["}"]
            lines += ["private let wires: Wires"]
        }
        if hasLog { lines.append("private let log: Log") }
        lines.append("")
        switch (wires.isEmpty, hasLog) {
        case (true, _): lines.append("init(_ context: Context) {}")
        case (false, false): lines += ["init(_ context: Context) {", "    wires = context.wires", "}"]
        case (false, true):
            lines += ["init(_ context: Context) {", "    (wires, log) = (context.wires, context.log)", "}"]
        }
        return lines.map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
    }
}
