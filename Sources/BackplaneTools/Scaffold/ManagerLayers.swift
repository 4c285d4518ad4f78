import Backplane
import BackplaneDocuments
import BackplaneHost
import FoundationEssentials

/// A new manager with its optional controllers and service, and the names of their types.
struct ManagerLayers: Sendable, Hashable {
    var name: String
    var hasStore = false
    var hasService = false
    /// A Boolean value that indicates whether the manager provides a stream, and therefore has no collaborators.
    var hasStream = false
    /// The module of the contracts, or `nil` if they are in the manager's module.
    var contracts: String?
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
    var manager: String { name + "Manager" }
    private var store: String { name + "Store" }
    private var communication: String { name + "Communication" }
    private var service: String { name + "Service" }

    /// The component classes, in the order in which `register(in:)` adds them.
    var classes: [String] { [manager] + (hasStore ? [store] : []) + (hasService ? [communication, service] : []) }
    /// The products of Backplane that the module imports.
    var products: [String] {
        ["Backplane"] + (hasService ? ["BackplaneNetwork"] : [])
            + (hasStore ? ["BackplaneStorage"] : [])
    }
    var contractProducts: [String] { ["Backplane"] }
    var testProducts: [String] {
        ["Backplane", "BackplaneHost"] + ["BackplaneTestKit"]
    }

    /// The path of the service's sample data, relative to the folder of the manifest.
    var sample: String { "\(kebab)/items.json" }
    /// A call that works immediately: the method, and its input as JSON.
    var firstCall: (method: String, input: String?) {
        if hasStream { return ("post", "\"Hello\"") }
        return hasStore || hasService ? ("items", nil) : ("greet", "\"Ada\"")
    }
    /// The import of the contracts' module for the other files; empty if they are in the same module.
    var importsContracts: String { contracts.map { "import \($0)\n" } ?? "" }
    /// The modules of contracts that the manager and its tests import.
    var contractModules: [String] { Set([contracts].compactMap(\.self) + uses.compactMap(\.module)).sorted() }
    var importsAllContracts: String { contractModules.map { "import \($0)\n" }.joined() }
}

extension ManagerLayers {
    /// The word for the manager in the names of templates.
    private var kind: String {
        if hasStream { return "stream" }
        return hasStore ? (hasService ? "both" : "store") : hasService ? "service" : "greeting"
    }

    func text(_ template: String, _ values: [String: String] = [:]) throws(BackplaneError) -> String {
        try Template.text(
            template, ["name": name, "kebab": kebab, "imports": importsContracts].merging(values) { $1 })
    }

    /// The source of the contracts of the manager and its controllers and service.
    var contractsText: String { get throws(BackplaneError) { try text("contracts-\(kind).swift") } }

    /// Adds a file for each component, and a file for the contracts if they belong to the same module.
    func addSources(to blueprint: inout Blueprint, in folder: String) throws(BackplaneError) {
        if contracts == nil { blueprint.add("\(folder)/\(name)Contracts.swift", text: try contractsText) }
        blueprint.add(
            "\(folder)/\(manager).swift",
            text: try text("manager-\(kind).swift", ["imports": importsAllContracts, "wires": wiresText]))
        if hasStore { blueprint.add("\(folder)/\(store).swift", text: try text("store.swift")) }
        if hasService {
            blueprint.add("\(folder)/\(communication).swift", text: try text("communication.swift"))
            blueprint.add("\(folder)/\(service).swift", text: try text("service.swift"))
        }
    }

    /// Adds tests that link the plugin and use fakes for the manager's controllers, and for the managers that it uses.
    func addTests(to blueprint: inout Blueprint, in folder: String, module: String, plugin: String)
        throws(BackplaneError)
    {
        let fakes = uses.map { ".use(\($0.label.unquoted.swiftLiteral)): Fake(\($0.contract).self)" }
        blueprint.add(
            "\(folder)/\(manager)Tests.swift",
            text: try text(
                "tests-\(kind).swift",
                [
                    "imports": importsAllContracts, "module": module, "plugin": plugin,
                    "fakes": fakes.isEmpty ? "" : ", fakes: [\(fakes.joined(separator: ", "))]",
                    "moreFakes": fakes.map { ", " + $0 }.joined(),
                ]))
    }

    /// Adds the sample data that the service reads until it has a server, in the folder of the manifest.
    func addSample(to blueprint: inout Blueprint, besideManifest manifest: String) throws(BackplaneError) {
        guard hasService else { return }
        let folder = manifest.lastIndex(of: "/").map { manifest[...$0] } ?? ""
        try blueprint.add(folder + sample, "sample.json")
    }

    /// The declaration of the manager's wires and its initialiser, indented as its members.
    private var wiresText: String {
        let wires =
            (hasStore ? [("dataAccessController", "\(name)Archive")] : [])
            + (hasService ? [("communicationController", "\(name)Network")] : [])
            + uses.map { ($0.label, $0.contract) }
        if wires.isEmpty { return "\n    init(_ context: Context) {}" }
        let hasLog = hasStore && hasService
        return
            (["struct Wires: Wiring {"] + wires.map { "    let \($0): Wire<\($1)>" }
            + ["}", "private let wires: Wires"] + (hasLog ? ["private let log: Log"] : [])
            + ["", "init(_ context: Context) {"]
            + [hasLog ? "    (wires, log) = (context.wires, context.log)" : "    wires = context.wires", "}"])
            .map { $0.isEmpty ? "" : "    " + $0 }.joined(separator: "\n")
    }
}

extension String {
    /// The identifier without backticks.
    fileprivate var unquoted: String { hasPrefix("`") ? String(dropFirst().dropLast()) : self }
}

extension ManagerLayers {
    var definition: ManifestValue {
        var members: [String: ManifestValue] = [:]
        if hasStore { members["dataAccessController"] = .dictionary(["className": .string(store)]) }
        if hasService {
            members["communicationController"] = .dictionary([
                "className": .string(communication), "services": .array([serviceDefinition]),
            ])
        }
        if !uses.isEmpty {
            members["uses"] = .dictionary(
                Dictionary(
                    uses.map { ($0.label.unquoted, .string($0.manager)) }, uniquingKeysWith: { first, _ in first }))
        }
        return .dictionary(members)
    }

    private var serviceDefinition: ManifestValue {
        .dictionary([
            "className": .string(service), "propertyName": "feed",
            "configuration": .dictionary(["url": .string("file:\(sample)")]),
        ])
    }

    func manifestText(library: String) -> String {
        let manifest = ManifestValue.dictionary([
            "manifestVersion": 1, "plugins": .array([.string(library)]),
            "managers": .dictionary([manager: definition]),
        ])
        // Strings and a number can always be encoded as JSON.
        return (try? manifest.encoded(as: .json)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// A manager of the manifest that a new manager uses.
struct UsedManager: Sendable, Hashable {
    var label: String
    /// The name in the manifest.
    var manager: String
    /// The name of the contract that it provides.
    var contract: String
    /// The module of the contract, or `nil` if it is the new manager's module.
    var module: String?

    /// Finds a manager of a manifest and, in the sources of a package, the contract that its class provides.
    ///
    /// - Parameter own: The target to which the new manager is added.
    /// - Throws: `new.package` if the manifest has no such manager, if the package does not contain its class and
    ///   contract, or if the contract belongs to another plugin.
    init(_ manager: String, of manifest: ManifestEdit, in package: PackageFolder, usedBy own: String)
        throws(BackplaneError)
    {
        let className = try Self.className(of: manager, in: manifest)
        let sources = package.facts.targets.filter { $0.type == "regular" }.flatMap { target in
            package.sources(in: package.folder(of: target)).compactMap { file in
                package.contents(of: file).map { Source(target: target.name, text: $0) }
            }
        }
        guard let contract = sources.lazy.compactMap({ $0.contract(ofClass: className) }).first else {
            throw BackplaneError(
                .newPackage,
                "the package has no class `\(className)` that declares which contract it provides (`typealias "
                    + "Provides = …`), so `\(manager)` cannot be used by its name; add the wire by hand",
                at: package.root)
        }
        guard let target = sources.first(where: { $0.declares(contract: contract) })?.target else {
            throw BackplaneError(
                .newPackage,
                "the package does not declare the contract `\(contract)` of `\(manager)`; add the wire by hand",
                at: package.root)
        }
        let isPlugin = sources.contains { $0.target == target && PluginModule.pluginType(in: $0.text) != nil }
        guard target == own || !isPlugin else {
            throw BackplaneError(
                .newPackage,
                "the contract `\(contract)` of `\(manager)` is in the plugin `\(target)`, which no other plugin can import; create a library with `backplane new contracts NAME`, and move it there",
                at: package.root)
        }
        let identifier = SwiftIdentifier(camelCasing: manager)
        label = (identifier?.withoutManager ?? identifier)?.spelled ?? "other"
        (self.manager, self.contract, module) = (manager, contract, target == own ? nil : target)
    }

    init(label: String, manager: String, contract: String, module: String?) {
        (self.label, self.manager, self.contract, self.module) = (label, manager, contract, module)
    }

    private static func className(of manager: String, in manifest: ManifestEdit) throws(BackplaneError) -> String {
        var managers: [String: ManifestValue] = [:]
        if let text = manifest.text, case .dictionary(let root)? = try? ManifestValue(parsing: Data(text.utf8)),
            case .dictionary(let found)? = root["managers"]
        {
            managers = found
        }
        guard case .dictionary(let definition)? = managers[manager] else {
            let question = NameSuggestions(for: manager, among: managers.keys).question.map { "; \($0)" } ?? ""
            throw BackplaneError(.newPackage, "no manager is named `\(manager)`\(question)", at: manifest.path)
        }
        return if case .string(let name)? = definition["className"] { name } else { manager }
    }
}

/// A source file of a target.
private struct Source {
    let target: String
    let text: String

    /// Returns the contract that a class of the file provides, or `nil` if the file does not declare the class.
    func contract(ofClass name: String) -> String? {
        // Any other text from the manifest could contain the syntax of patterns.
        guard SwiftIdentifier.isTypeName(name),
            let start = text.firstRange(of: try! Regex("\\b(?:class|actor|struct)\\s+\(name)\\b")),
            let match = text[start.upperBound...].firstMatch(of: /\btypealias\s+Provides\s*=\s*(\w+)/)
        else { return nil }
        return String(match.1)
    }

    func declares(contract name: String) -> Bool {
        text.contains(try! Regex("\\bstruct\\s+\(name)\\s*:[^{]*\\bContract\\b"))
    }
}
