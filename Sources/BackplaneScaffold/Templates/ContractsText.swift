extension ManagerLayers {
    /// The source of the contracts of the manager and its controllers and service.
    var contractsText: String {
        hasLayers
            ? [itemText, itemsContractText, archiveText, networkText].compactMap(\.self).joined(separator: "\n")
            : greetingContractText
    }

    private var greetingContractText: String {
        """
        public import Backplane

        /// What the manager answers.
        public struct \(contract): Contract {
            public static let version: Version = "1.0.0"
            /// A greeting for whoever has this name.
            public let greet = AsyncMethod<String, String>()
            public init() {}
        }

        """
    }

    private var itemText: String {
        """
        public import Backplane
        \(hasStore ? "public import BackplaneManagers\n" : "")
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
                    /// All items that were added.
                    public let items = AsyncMethod<Nothing, [\(item)]>()
                    /// Adds an item, in the place of the one with its id.
                    public let add = AsyncMethod<\(item), Nothing>()
                """
            } else if hasStore {
                """
                    /// All items, from the network, or as they were kept when it fails.
                    public let items = AsyncMethod<Nothing, Sourced<[\(item)]>>()
                """
            } else {
                """
                    /// All items.
                    public let items = AsyncMethod<Nothing, [\(item)]>()
                """
            }
        return """
            /// What the manager answers.
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
            /// What the data access controller keeps.
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
            /// What the communication controller fetches.
            public struct \(network): Contract {
                public static let version: Version = "1.0.0"
                public let items = AsyncMethod<Nothing, [\(item)]>()
                public init() {}
            }

            /// What the network service reads, in each of its versions.
            public struct \(feed): Contract {
                public static let version: Version = "1.0.0"
                public let items = AsyncMethod<Nothing, [\(item)]>()
                public init() {}
            }

            """
    }
}
