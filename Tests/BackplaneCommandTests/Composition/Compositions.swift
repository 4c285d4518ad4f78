import Backplane
import Foundation

@testable import BackplaneHost

/// Compositions of plugins that exist in these lines alone.
extension Composition {
    /// - Parameters:
    ///   - manifest: the text of a whole manifest.
    ///   - plugins: in their order.
    ///   - lane: of a wire, by its label.
    init(
        _ manifest: String, _ plugins: [ExamplePlugin], loading: [Problem] = [],
        lane: (String) -> Lane = { _ in .native }
    ) {
        let document = ManifestDocument(parsing: Data(manifest.utf8), path: "example.json")
        let catalogue = Catalogue(
            plugins.enumerated().flatMap { order, plugin in
                plugin.components.enumerated().map { index, component in
                    Catalogue.Entry(
                        plugin: plugin.id, pluginVersion: plugin.version, order: order, index: index,
                        component: component)
                }
            })
        let resolution = Resolution(document, catalogue: catalogue), plan = resolution.plan
        let wires = plan.nodes.flatMap { user in
            user.wires.compactMap { wire in
                user.entry.component.wires.first { $0.label == wire.label }.map { declared in
                    Composition.PlannedWire(
                        user: user.id, provider: wire.provider,
                        status: WireStatus(
                            user: user.name, label: wire.label, provider: plan.nodes[wire.provider].name,
                            contract: declared.contract.name, version: declared.contract.version,
                            lane: lane(wire.label)))
                }
            }
        }
        self.init(
            document: document, catalogue: catalogue, plan: plan, problems: loading + resolution.problems,
            plugins: plugins.map { PluginOrigin(id: $0.id, version: $0.version, library: $0.id + ".so") }, wires: wires)
    }

    /// The books' application: two versions of one service, a store that two managers share, a clock in C, and some
    /// that are wrong.
    static var books: Composition {
        Composition(
            #"""
            {
              "manifestVersion": 1,
              "plugins": [],
              "managers": {
                "ClockManager": { "className": "ClockManager" },
                "LibraryManager": {
                  "className": "LibraryManager",
                  "uses": { "clock": "ClockManager" },
                  "dataAccessController": { "className": "BookStore", "version": "[1.0,2.0)" },
                  "communicationController": {
                    "className": "LibraryCommunication",
                    "services": [{ "className": "BooksService", "version": "[2.0,3.0)", "propertyName": "books" }]
                  }
                },
                "ReadingRoomManager": {
                  "className": "LibraryManager",
                  "dataAccessController": { "className": "BookStore" },
                  "communicationController": {
                    "className": "LibraryCommunication",
                    "services": [{ "className": "BooksService", "version": "[1.0,2.0)", "propertyName": "books" }]
                  }
                },
                "Broken": { "className": "NoSuchClass" },
                "Upset": { "className": "LibraryManager", "clasName": "x", "uses": { "clock": "Broken" } },
                "Very upset": { "className": "LibraryManager", "uses": { "clock": "Upset" } },
                "<b>\"A|B\"]\n#1; \\ & größer 図書館": { "className": "ClockManager" }
              }
            }
            """#,
            [.shelf, .books("1.4.0"), .books("2.1.0"), .books("2.0.0"), .clock]
        ) { $0 == "clock" ? .encoded(because: "plugin `org.example.clock` does not use the Swift SDK") : .native }
    }
}

extension Composition {
    /// A manager that lists two routes.
    static var routes: Composition {
        Composition(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"LibraryRoutes": {"className": "LibraryRoutes"}}}"#,
            [.routes])
    }

    /// A manager that lists two screens.
    static var screens: Composition {
        Composition(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"BookScreens": {"className": "BookScreens"}}}"#,
            [.screens])
    }
}

/// A plugin that registers these components.
struct ExamplePlugin {
    var id: String
    var version: Version
    var components: [ComponentDescription]

    private static let library = contract("Library", "1.2.0"), shelfContract = contract("Shelf"),
        network = contract("LibraryNetwork")
    private static let time = contract("WallTime")
    private static let api = ContractDescription(
        name: "BooksAPI", version: "1.0.0",
        methods: [
            MethodDescription(name: "search", kind: .async), MethodDescription(name: "events", kind: .stream),
            MethodDescription(name: "text", kind: .stream),
        ])

    static let shelf = ExamplePlugin(
        id: "org.example.shelf", version: "1.0.0",
        components: [
            ComponentDescription(
                role: .manager, className: "LibraryManager", version: "1.0.0", contract: library,
                wires: [
                    WireDescription(label: "dataAccessController", isOptional: true, contract: shelfContract),
                    WireDescription(label: "communicationController", isOptional: true, contract: network),
                    WireDescription(label: "clock", isOptional: true, contract: time),
                ]),
            ComponentDescription(
                role: .dataAccessController, className: "BookStore", version: "1.0.0", contract: shelfContract),
            ComponentDescription(
                role: .communicationController, className: "LibraryCommunication", version: "1.0.0", contract: network,
                wires: [WireDescription(label: "books", contract: api)]),
        ])

    static func books(_ version: Version) -> ExamplePlugin {
        ExamplePlugin(
            id: "org.example.books", version: version,
            components: [
                ComponentDescription(role: .networkService, className: "BooksService", version: version, contract: api)
            ])
    }

    static let clock = ExamplePlugin(
        id: "org.example.clock", version: "1.0.0",
        components: [
            ComponentDescription(role: .manager, className: "ClockManager", version: "1.0.0", contract: time),
            ComponentDescription(role: .manager, className: "Metronome", version: "1.0.0"),
        ])

    static let routes = ExamplePlugin(
        id: "org.example.routes", version: "1.0.0",
        components: [
            ComponentDescription(
                role: .manager, className: "LibraryRoutes", version: "1.0.0", contract: contract("HTTPRoutes"),
                annotation: #"""
                    {"routes": [{"method": "GET", "path": "/books/:id", "kind": "answer"},
                                {"method": "GET", "path": "/changes", "kind": "events"}]}
                    """#)
        ])

    /// The input of a screen.
    private struct Page {
        var book: String
        var page: Int?
    }

    static let screens = ExamplePlugin(
        id: "org.example.screens", version: "1.0.0",
        components: [
            ComponentDescription(
                role: .manager, className: "BookScreens", version: "1.0.0", contract: contract("Screens"),
                annotation: #"""
                    {"screens": [{"identifier": "books.list"},
                                 {"identifier": "books.page", "input": "\#(LayoutReader.layout(ofState: Page.self))"}]}
                    """#)
        ])

    private static func contract(_ name: String, _ version: Version = "1.0.0") -> ContractDescription {
        ContractDescription(name: name, version: version)
    }
}
