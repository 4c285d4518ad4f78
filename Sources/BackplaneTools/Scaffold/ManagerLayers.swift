/// A new manager with its optional controllers and service, and the names of their types.
struct ManagerLayers: Sendable, Hashable {
    var name: String
    /// A Boolean value that indicates whether there is a data access controller.
    var hasStore = false
    /// A Boolean value that indicates whether there is a communication controller with a network service.
    var hasService = false
    /// A Boolean value that indicates whether the manager provides a stream; it has no collaborators then.
    var hasStream = false
    /// The module of the contracts, or `nil` if they are in the manager's module.
    var contracts: String?
    /// The managers that this one uses.
    var uses: [UsedManager] = []

    init(
        _ name: NewName, hasStore: Bool = false, hasService: Bool = false, hasStream: Bool = false,
        contracts: String? = nil
    ) {
        (self.name, kebab) = (name.text, name.kebab)
        (self.hasStore, self.hasService, self.hasStream) = (hasStore, hasService, hasStream)
        self.contracts = contracts
    }

    /// The name in kebab case.
    let kebab: String
    var contract: String { name }
    var manager: String { name + "Manager" }
    var item: String { name + "Item" }
    var archive: String { name + "Archive" }
    var store: String { name + "Store" }
    var network: String { name + "Network" }
    var communication: String { name + "Communication" }
    var feed: String { name + "Feed" }
    var service: String { name + "Service" }
    var message: String { name + "Message" }
    var place: String { name + "Place" }

    var hasLayers: Bool { hasStore || hasService }
    /// The component classes, in the order in which `register(in:)` adds them.
    var classes: [String] { [manager] + (hasStore ? [store] : []) + (hasService ? [communication, service] : []) }
    /// The products of Backplane that the module imports.
    var products: [String] {
        ["Backplane"] + (hasService ? ["BackplaneNetwork"] : [])
            + (hasStore ? ["BackplaneStorage"] : [])
    }
    /// The products of Backplane that the contracts import.
    var contractProducts: [String] { ["Backplane"] }
    /// The products of Backplane that the tests import.
    var testProducts: [String] {
        ["Backplane", "BackplaneHost"] + ["BackplaneTestKit"]
    }
    /// A Boolean value that indicates whether results carry their source, network or store.
    var isSourced: Bool { hasStore && hasService }
    /// The path of the service's sample data, relative to the folder of the manifest.
    var sample: String { "\(kebab)/items.json" }
    /// A call that works immediately: the method, and its input as JSON.
    var firstCall: (method: String, input: String?) {
        if hasStream { return ("post", "\"Hello\"") }
        return hasLayers ? ("items", nil) : ("greet", "\"Ada\"")
    }
    /// The import of the contracts' module for the other files; empty if they are in the same module.
    var importsContracts: String { contracts.map { "import \($0)\n" } ?? "" }
    /// The modules of contracts that the manager and its tests import.
    var contractModules: [String] { Set([contracts].compactMap(\.self) + uses.compactMap(\.module)).sorted() }
    /// The imports of all modules of contracts that the manager and its tests need.
    var importsAllContracts: String { contractModules.map { "import \($0)\n" }.joined() }
}
