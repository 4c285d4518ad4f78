/// A manager and the layers it is made with, and what their types are called.
struct ManagerLayers: Sendable, Hashable {
    var name: String
    /// A data access controller.
    var hasStore = false
    /// A communication controller with a network service.
    var hasService = false
    /// The library of contracts that they stand in; `nil`: they stand beside the manager.
    var contracts: String?

    init(_ name: NewName, hasStore: Bool = false, hasService: Bool = false, contracts: String? = nil) {
        (self.name, kebab) = (name.text, name.kebab)
        (self.hasStore, self.hasService, self.contracts) = (hasStore, hasService, contracts)
    }

    /// The name in lower case with dashes.
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

    var hasLayers: Bool { hasStore || hasService }
    /// The component classes, as `register(in:)` adds them.
    var classes: [String] { [manager] + (hasStore ? [store] : []) + (hasService ? [communication, service] : []) }
    /// The products of Backplane that the module needs.
    var products: [String] { ["Backplane"] + (hasStore ? ["BackplaneManagers"] : []) + (hasService ? ["BackplaneNetwork"] : []) + (hasStore ? ["BackplaneStorage"] : []) }
    /// The products of Backplane that its tests need.
    var testProducts: [String] { ["Backplane", "BackplaneHost"] + (isSourced ? ["BackplaneManagers"] : []) + ["BackplaneTestKit"] }
    /// Answers say where they come from.
    var isSourced: Bool { hasStore && hasService }
    /// What the service reads until it has a server, from the manifest's folder on.
    var sample: String { "\(kebab)/items.json" }
    /// A call that answers something at once: a method, and its input as JSON.
    var firstCall: (method: String, input: String?) { hasLayers ? ("items", nil) : ("greet", "\"Ada\"") }
    /// A line that every file but those with the contracts has among its imports.
    var importsContracts: String { contracts.map { "import \($0)\n" } ?? "" }
}
