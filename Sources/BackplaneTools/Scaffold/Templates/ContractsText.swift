extension ManagerLayers {
    /// The source of the contracts of the manager and its controllers and service.
    var contractsText: String {
        if hasStream { return streamContractText }
        return hasLayers
            ? [itemText, itemsContractText, archiveText, networkText].compactMap(\.self).joined(separator: "\n")
            : greetingContractText
    }

    private var greetingContractText: String {
        """
        public import Backplane

        /// The methods of the manager.
        public struct \(contract): Contract {
            public static let version: Version = "1.0.0"
            /// Returns a greeting for a name.
            public let greet = AsyncMethod<String, String>()
            public init() {}
        }

        """
    }

    private var itemText: String {
        """
        public import Backplane

        public struct \(item): Codable, Sendable, Hashable {
            public var id: String
            public var text: String

            public init(id: String, text: String) {
                (self.id, self.text) = (id, text)
            }
        }

        """
    }

    private var itemsContractText: String {
        let members =
            if !hasService {
                """
                    /// Returns all items that have been added.
                    public let items = AsyncMethod<Nothing, [\(item)]>()
                    /// Adds an item, or replaces the one with the same id.
                    public let add = AsyncMethod<\(item), Nothing>()
                """
            } else if hasStore {
                """
                    /// Returns all items, from the network or, if that fails, from the store.
                    public let items = AsyncMethod<Nothing, Sourced<[\(item)]>>()
                """
            } else {
                """
                    /// Returns all items.
                    public let items = AsyncMethod<Nothing, [\(item)]>()
                """
            }
        return """
            /// The methods of the manager.
            public struct \(contract): Contract {
                public static let version: Version = "1.0.0"
            \(members)
                public init() {}
            }

            """
    }

    private var archiveText: String? {
        guard hasStore else { return nil }
        return """
            /// The methods of the data access controller.
            public struct \(archive): Contract {
                public static let version: Version = "1.0.0"
                public let keep = AsyncMethod<[\(item)], Nothing>()
                public let kept = AsyncMethod<Nothing, Kept<[\(item)]>?>()
                public init() {}
            }

            """
    }

    private var networkText: String? {
        guard hasService else { return nil }
        return """
            /// The methods of the communication controller.
            public struct \(network): Contract {
                public static let version: Version = "1.0.0"
                public let items = AsyncMethod<Nothing, [\(item)]>()
                public init() {}
            }

            /// The methods of the network service, which all its versions provide.
            public struct \(feed): Contract {
                public static let version: Version = "1.0.0"
                public let items = AsyncMethod<Nothing, [\(item)]>()
                public init() {}
            }

            """
    }
}
