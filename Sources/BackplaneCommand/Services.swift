import ArgumentParser
import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Services: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "services",
            abstract: "List the services of a manifest's plugins: contracts, who provides and who uses them.",
            discussion: """
                A service is a contract that a component provides. Below it are its routes and screens, if it lists \
                any. Components without a contract, and wires that are not connected, come last. Nothing is started. \
                The exit code is 1 if the manifest cannot be read.

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

    struct MissingWire: Codable, Sendable {
        var manager: String
        var className: String
        var label: String
        var contract: String
        var version: String
        var isOptional: Bool
        /// The components to which the wire could be connected.
        var candidates: [String]

        fileprivate init(_ missing: Composition.MissingWire) {
            (manager, className, label) = (missing.manager, missing.user.component.className, missing.wire.label)
            (contract, version, isOptional) = (
                missing.wire.contract.name, missing.wire.contract.version.description, missing.wire.isOptional
            )
            candidates = missing.candidates.map {
                "\($0.component.className) \($0.component.version) of plugin \($0.plugin)"
            }
        }

        fileprivate var cells: [Span] {
            [manager, className, label, "\(contract) \(version)"].map { Span($0.printable) } + [
                isOptional ? Span("optional", .faint) : Span("needed", .bad),
                candidates.isEmpty ? Span("none", .faint) : Span(candidates.joined(separator: ", ").printable),
            ]
        }
    }

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
                components: components.map { ListedComponent($0, usedBy: (users[$0] ?? []).sorted()) })
        }
        missing = composition.missingWires().map(MissingWire.init)
    }

    /// The table of services, by contract; then the components without one, and the plugins without components.
    var table: Table {
        let all = plugins.flatMap { plugin in plugin.components.map { (plugin, $0) } }
        let services = all.filter { $0.1.contract != nil }.enumerated().sorted { a, b in
            (a.element.1.contract ?? "", a.offset) < (b.element.1.contract ?? "", b.offset)
        }
        let rows = (services.map(\.element) + all.filter { $0.1.contract == nil }).flatMap { Self.rows(of: $0, $1) }
        let idle = plugins.filter(\.components.isEmpty).map { plugin -> [Span] in
            [Span("-", .faint), Span("nothing", .faint), "", Span("\(plugin.id) \(plugin.version)".printable)]
                + [Span("-", .faint)]
        }
        return Table(["SERVICE", "PROVIDED BY", "ROLE", "PLUGIN", "USED BY"], rows + idle)
    }

    /// Returns the row of a component, and below it one for each of its routes and screens.
    private static func rows(of plugin: ListedPlugin, _ component: ListedComponent) -> [[Span]] {
        let streams = component.streams.map { " (\(counted($0.count, "stream")))" } ?? ""
        let service = component.contract.map { Span("\($0) \(component.contractVersion ?? "")\(streams)".printable) }
        let users = component.usedBy
        return [
            [
                service ?? Span("-", .faint), Span("\(component.className) \(component.version)".printable),
                Span(component.role), Span("\(plugin.id) \(plugin.version)".printable),
                users.isEmpty ? Span("unused", .doubtful) : Span(users.joined(separator: ", ").printable),
            ]
        ] + component.lists.map { [Span("  \($0.printable)"), "", "", "", ""] }
    }

    /// The table of wires that are not connected, or `nil` if there are none.
    var missingTable: Table? {
        guard !missing.isEmpty else { return nil }
        return Table(["MANAGER", "CLASS", "WIRE", "ASKS FOR", "NEED", "COULD BE"], missing.map(\.cells))
    }
}
