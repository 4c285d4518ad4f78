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
        \(importsContracts)
        /// A manager that greets people by name.
        final class \(manager): Manager {
            typealias Provides = \(contract)

            init(_ context: Context) {}

            static func methods(_ table: inout Methods) {
                table.async(\\.greet) { _, name, _ in "Hello, \\(name)!" }
            }
        }

        """
    }

    private var keepingManagerText: String {
        """
        import Backplane
        import BackplaneManagers
        \(importsContracts)
        /// A manager that stores items with its data access controller.
        final class \(manager): Manager {
            typealias Provides = \(contract)
            struct Wires: Wiring {
                let dataAccessController: Wire<\(archive)>
            }
            private let wires: Wires

            init(_ context: Context) {
                wires = context.wires
            }

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
        \(importsContracts)
        /// A manager that returns the items of its network service.
        final class \(manager): Manager {
            typealias Provides = \(contract)
            struct Wires: Wiring {
                let communicationController: Wire<\(network)>
            }
            private let wires: Wires

            init(_ context: Context) {
                wires = context.wires
            }

            static func methods(_ table: inout Methods) {
                table.async(\\.items) { manager, _, call in try await manager.wires.communicationController.items(call) }
            }
        }

        """
    }

    private var sourcedManagerText: String {
        """
        import Backplane
        import BackplaneManagers
        \(importsContracts)
        /// A manager that returns the items of its network service or, if the network fails, the stored ones.
        final class \(manager): Manager {
            typealias Provides = \(contract)
            struct Wires: Wiring {
                let dataAccessController: Wire<\(archive)>
                let communicationController: Wire<\(network)>
            }
            private let wires: Wires
            private let log: Log

            init(_ context: Context) {
                (wires, log) = (context.wires, context.log)
            }

            static func methods(_ table: inout Methods) {
                table.async(\\.items) { manager, _, call in try await manager.items(call) }
            }

            private func items(_ call: Call) async throws -> Sourced<[\(item)]> {
                try await Sourced.networkFirst(call) { call in
                    try await wires.communicationController.items(call)
                } keep: { items in
                    _ = try await wires.dataAccessController.keep(items, call)
                } kept: {
                    try await wires.dataAccessController.kept(call)
                } unkept: { error in
                    log.warning("the items could not be stored", metadata: ["error": "\\(error)"])
                }
            }
        }

        """
    }
}
