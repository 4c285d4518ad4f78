import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneScreens
import BackplaneTools
import struct BackplaneTools.Table

extension BackplaneTool {
    struct Services: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the classes that each plugin registers, with their versions and users.",
            discussion: """
                Unconnected wires are listed at the end. Nothing is started. The exit code is 1 if the manifest \
                cannot be read.

                EXAMPLES
                  backplane services manifests/bookshelf-both.json
                  backplane services --json
                  backplane services --running
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @OptionGroup var running: RunningArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            let (settings, host) = try running.choice(manifest.path, host.settings)
            if let host {
                let code = host.ask(ServicesRequest()) { list, _ in
                    report(list)
                    return 0
                }
                throw ExitCode(code)
            }
            let composition = await settings.compose()
            if composition.isEmpty, composition.plugins.isEmpty { throw ExitCode(settings.fail(composition)) }
            report(ServiceList(composition))
            settings.remark(onErrorsOf: composition)
        }

        private func report(_ list: ServiceList) {
            if json { return Output.json(list) }
            Output.table(list.table)
            guard let missing = list.missingTable else { return }
            Output.line("\nwires that are not connected:")
            Output.table(missing)
        }
    }
}

/// The components that each plugin registers, their users, and the wires that are not connected.
struct ServiceList: Codable, Sendable {
    var plugins: [ListedPlugin]
    var missing: [MissingWire]

    struct ListedPlugin: Codable, Sendable {
        var id: String
        var version: String
        /// The path at which the library was built, or `nil` if the plugin is linked into this program.
        var library: String?
        var components: [ListedComponent]
    }

    struct ListedComponent: Codable, Sendable {
        var role: String
        var className: String
        var version: String
        var contract: String?
        var contractVersion: String?
        /// The streams of the contract; `nil` if it has none.
        var streams: [String]?
        /// The routes that it lists; `nil` if there are none.
        var routes: [String]?
        /// The screens that it lists; `nil` if there are none.
        var screens: [String]?
        /// The managers whose definitions use the component, sorted by name.
        var usedBy: [String]
    }

    struct MissingWire: Codable, Sendable {
        var manager: String
        var className: String
        var label: String
        var contract: String
        var version: String
        var isOptional: Bool
        /// The components to which the wire could be connected.
        var candidates: [String]
    }
}

extension ServiceList {
    init(_ composition: Composition) {
        var users: [Catalogue.Entry: Set<String>] = [:]
        for manager in composition.managerNames {
            for definition in composition.document.definitions(of: manager) {
                if let entry = composition.catalogue.entry(for: definition) {
                    users[entry, default: []].insert(manager)
                }
            }
        }
        let entries = Dictionary(grouping: composition.catalogue.entries, by: \.order)
        plugins = composition.plugins.enumerated().map { order, plugin in
            let components = (entries[order] ?? []).sorted { a, b in
                (a.component.role.rawValue, a.component.className, a.index) < (
                    b.component.role.rawValue, b.component.className, b.index
                )
            }
            return ListedPlugin(
                id: plugin.id, version: plugin.version.description, library: plugin.library,
                components: components.map { ListedComponent($0.component, usedBy: (users[$0] ?? []).sorted()) })
        }
        missing = composition.missingWires().map(MissingWire.init)
    }
}

extension ServiceList.ListedComponent {
    fileprivate init(_ component: ComponentDescription, usedBy users: [String]) {
        (role, className, version) = (component.role.description, component.className, component.version.description)
        (contract, contractVersion, usedBy) = (component.contract?.name, component.contract?.version.description, users)
        (streams, routes) = (component.contract?.streams, component.listedRoutes)
        screens = component.listedScreens?.map(\.identifier)
    }
}

extension ServiceList.MissingWire {
    fileprivate init(_ missing: Composition.MissingWire) {
        (manager, className, label) = (missing.manager, missing.user.component.className, missing.wire.label)
        (contract, version, isOptional) = (
            missing.wire.contract.name, missing.wire.contract.version.description, missing.wire.isOptional
        )
        candidates = missing.candidates.map {
            "\($0.component.className) \($0.component.version) of plugin \($0.plugin)"
        }
    }
}

extension ServiceList {
    /// The table of components, grouped by plugin.
    var table: Table {
        Table(
            ["PLUGIN", "ROLE", "CLASS", "PROVIDES", "USED BY"],
            plugins.flatMap { plugin -> [[Span]] in
                let name = Span("\(plugin.id) \(plugin.version)".printable)
                return plugin.components.isEmpty
                    ? [[name, Span("nothing", .faint), "", "", ""]] : plugin.components.flatMap { $0.rows(of: name) }
            })
    }

    /// The table of wires that are not connected, or `nil` if there are none.
    var missingTable: Table? {
        guard !missing.isEmpty else { return nil }
        return Table(["MANAGER", "CLASS", "WIRE", "ASKS FOR", "NEED", "COULD BE"], missing.map(\.cells))
    }
}

extension ServiceList.ListedComponent {
    /// Returns the row of the component, and below it one for each of its routes and screens.
    fileprivate func rows(of plugin: Span) -> [[Span]] {
        let names = (routes ?? []) + (screens ?? [])
        return [[plugin] + cells] + names.map { ["", "", "", Span($0.printable), ""] }
    }

    private var cells: [Span] {
        let count = streams.map { " (\($0.count) stream\($0.count == 1 ? "" : "s"))" } ?? ""
        let provides = contract.map { Span("\($0.printable) \(contractVersion ?? "")\(count)") } ?? Span("-", .faint)
        let users = usedBy.isEmpty ? Span("unused", .doubtful) : Span(usedBy.joined(separator: ", ").printable)
        return [Span(role), Span("\(className) \(version)".printable), provides, users]
    }
}

extension ServiceList.MissingWire {
    fileprivate var cells: [Span] {
        [
            Span(manager.printable), Span(className.printable), Span(label.printable),
            Span("\(contract.printable) \(version)"),
            isOptional ? Span("optional", .faint) : Span("needed", .bad),
            candidates.isEmpty ? Span("none", .faint) : Span(candidates.joined(separator: ", ").printable),
        ]
    }
}
