import Backplane
import BackplaneHost
import FoundationEssentials
import Glibc

/// The command `backplane new`: creates packages, plugins, managers and programs with tests that pass, and definitions.
package struct NewCommand: Sendable {
    package enum Subject: Sendable {
        case package(name: String, backplane: String?)
        case app(name: String, backplane: String?, hasRoutes: Bool)
        /// The library for the contracts is `nil` for the plugin's module.
        case plugin(name: String, Place, contracts: String?, backplane: String?)
        case contracts(name: String, package: String?, backplane: String?)
        case manager(name: String, Place, ManagerParts)
        case definition(name: String)
    }

    /// The parts of a new manager.
    package struct ManagerParts: Sendable {
        package var hasStore: Bool
        package var hasService: Bool
        package var hasStream: Bool
        /// The library or target of the plugin, or `nil` for the only one.
        package var plugin: String?
        /// The library for the contracts, or `nil` for the plugin's module.
        package var contracts: String?
        /// The managers that the new manager uses, by their names in the manifest.
        package var uses: [String]

        package init(
            hasStore: Bool, hasService: Bool, hasStream: Bool, plugin: String?, contracts: String?, uses: [String]
        ) {
            (self.hasStore, self.hasService, self.hasStream) = (hasStore, hasService, hasStream)
            (self.plugin, self.contracts, self.uses) = (plugin, contracts, uses)
        }
    }

    /// The package and the manifest to add to.
    package struct Place: Sendable {
        /// The folder of the package, or `nil` for the nearest package at or above the current folder.
        package var package: String?
        /// The path of the manifest, or `nil` for the package's default.
        package var manifest: String?

        package init(package: String? = nil, manifest: String? = nil) {
            (self.package, self.manifest) = (package, manifest)
        }
    }

    package var subject: Subject
    package var json: Bool
    /// A Boolean value that indicates whether nothing is written.
    package var printsOnly: Bool

    package init(subject: Subject, json: Bool = false, printsOnly: Bool = false) {
        (self.subject, self.json, self.printsOnly) = (subject, json, printsOnly)
    }

    package func run() -> Int32 {
        do throws(BackplaneError) {
            let made =
                switch subject {
                case .package(let name, let backplane): try makePackage(name, backplane)
                case .app(let name, let backplane, let hasRoutes): try makeApp(name, backplane, hasRoutes: hasRoutes)
                case .plugin(let name, let place, let contracts, let backplane):
                    try addPlugin(name, place, contracts, backplane)
                case .contracts(let name, let package, let backplane): try addContracts(name, package, backplane)
                case .manager(let name, let place, let parts): try addManager(name, place, parts)
                case .definition(let name): try addDefinition(name)
                }
            report(made)
            return 0
        } catch {
            let code = Output.fail(error)
            return error.code == .newName ? EX_USAGE : code
        }
    }

    private func makePackage(_ name: String, _ backplane: String?) throws(BackplaneError) -> Made {
        let package = NewPackage(
            name: try NewName(name, inFolder: true), backplane: try BackplanePackage(given: backplane))
        return try make(try package.blueprint(.own), in: package.folder)
    }

    private func makeApp(_ name: String, _ backplane: String?, hasRoutes: Bool) throws(BackplaneError) -> Made {
        let app = NewApp(name: try NewName(name, inFolder: true), backplane: try BackplanePackage(given: backplane))
        let served = NewRoutesApp(name: app.name, backplane: app.backplane)
        return try make(hasRoutes ? try served.blueprint(.own) : try app.blueprint(.own), in: app.folder)
    }

    private func addPlugin(_ given: String, _ place: Place, _ contracts: String?, _ backplane: String?)
        throws(BackplaneError) -> Made
    {
        let name = try NewName(given), package = try PackageFolder(given: place.package)
        let plugin = NewPlugin(
            name: name, package: package, manifest: .forPlugin(name, given: place.manifest, in: package),
            contracts: try package.contractsTarget(contracts)
        ) { () throws(BackplaneError) in
            try BackplanePackage(given: backplane)
        }
        return try add(plugin.blueprint(.own), to: package)
    }

    private func addContracts(_ given: String, _ folder: String?, _ backplane: String?) throws(BackplaneError) -> Made {
        let name = try NewName(given), package = try PackageFolder(given: folder)
        let contracts = NewContracts(name: name, package: package) { () throws(BackplaneError) in
            try BackplanePackage(given: backplane)
        }
        return try add(contracts.blueprint(.own), to: package)
    }

    private func addManager(_ given: String, _ place: Place, _ parts: ManagerParts) throws(BackplaneError) -> Made {
        var layers = ManagerLayers(
            try NewName(given), hasStore: parts.hasStore, hasService: parts.hasService, hasStream: parts.hasStream)
        let package = try PackageFolder(given: place.package)
        let plugin = try PluginModule.find(parts.plugin, in: package)
        let manifest = try ManifestEdit.naming(plugin.library, given: place.manifest, in: package)
        let contracts = try package.contractsTarget(parts.contracts)
        layers.contracts = contracts?.name
        for manager in parts.uses {
            let used = try UsedManager(manager, of: manifest, in: package, usedBy: plugin.target.name)
            if let other = layers.uses.first(where: { $0.label == used.label }) {
                if other.manager == used.manager { continue }
                throw BackplaneError(
                    .newPackage,
                    "`\(other.manager)` and `\(manager)` would both have the wire `\(used.label)`; use one of them, and add the other wire by hand",
                    at: manifest.path)
            }
            layers.uses.append(used)
        }
        return try add(
            NewManager(layers: layers, package: package, plugin: plugin, manifest: manifest, contracts: contracts)
                .blueprint(.own),
            to: package)
    }

    private func addDefinition(_ given: String) throws(BackplaneError) -> Made {
        let definition = NewDefinition(name: try NewName(given, inFolder: true))
        let folder = definition.name.folder ?? ".", blueprint = try definition.blueprint(.own)
        try write(blueprint, in: folder)
        return Made(blueprint, in: definition.name.folder ?? "")
    }

    private func add(_ blueprint: Blueprint, to package: PackageFolder) throws(BackplaneError) -> Made {
        var blueprint = blueprint
        blueprint.edit(in: package)
        try write(blueprint, in: package.root)
        return Made(blueprint, in: package.root == FilePath.absolute(".") ? "" : package.root)
    }

    /// Writes a blueprint while signals are ignored: this takes milliseconds, and must not be left incomplete.
    private func write(_ blueprint: Blueprint, in root: String) throws(BackplaneError) {
        if printsOnly { return try blueprint.requireNew(in: root) }
        let handlers = [SIGINT, SIGTERM, SIGHUP].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in handlers { signal(number, handler) } }
        try blueprint.write(in: root)
    }

    /// Writes a blueprint into a new or empty folder.
    ///
    /// - Throws: `new.exists` if the folder is not empty.
    private func make(_ blueprint: Blueprint, in folder: String) throws(BackplaneError) -> Made {
        if (try? FileStatus(at: folder)) != nil {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                throw BackplaneError(
                    .newExists, "there is a file of that name, or a folder that cannot be read; choose another name",
                    at: folder)
            }
            guard names.isEmpty else {
                throw BackplaneError(
                    .newExists,
                    "the folder is not empty: it contains \(Blueprint.list(names.sorted())); choose another name, or an empty folder",
                    at: folder)
            }
        }
        try write(blueprint, in: folder)
        return Made(blueprint, in: folder)
    }

    /// The report about the created files.
    private struct Made: Encodable {
        /// The paths relative to the current folder.
        var files: [String]
        var changed: [String]
        var paste: [Paste]
        var next: [String]
        /// The lines that differ, for each changed file.
        var differences: [[String]]

        private enum CodingKeys: CodingKey { case files, changed, paste, next }

        init(_ blueprint: Blueprint, in root: String) {
            files = blueprint.files.map { FilePath.join(root, $0.path) }
            changed = blueprint.changes.map { FilePath.join(root, $0.path) }
            paste = blueprint.pastes.map { paste in
                var paste = paste
                paste.file = FilePath.join(root, paste.file)
                return paste
            }
            next = blueprint.next
            differences = blueprint.changes.map(\.difference)
        }
    }

    private func report(_ made: Made) {
        if json { return Output.json(made) }
        for file in made.files { Output.line("\(printsOnly ? "would write" : "wrote") \(file.printable)") }
        for (file, lines) in zip(made.changed, made.differences) {
            Output.line("\(printsOnly ? "would change" : "changed") \(file.printable)")
            for line in lines { Output.line("  \(line.printableWithTabs)") }
        }
        for paste in made.paste {
            Output.line("\n\(paste.instruction.printable)")
            for line in paste.lines { Output.line("        \(line)") }
        }
        Output.line("\nnext:")
        for line in made.next { Output.line("  \(line)") }
    }
}

/// The shell commands to enter after creating an item.
struct NextCommands: Sendable, Hashable {
    /// The command that runs this program.
    var tool = "backplane"
    var folder = FilePath.absolute(".")

    /// The commands that refer to this program by name if the shell finds it, and otherwise by absolute path.
    static var own: NextCommands {
        let called = CommandLine.arguments.first ?? "backplane"
        return NextCommands(tool: called.contains("/") ? FilePath.absolute(called) : called)
    }

    func enter(_ folder: String) -> String { "cd \(folder.shellWord)" }

    /// Returns the command that enters the package, or nothing if it is the current folder.
    func enter(package root: String) -> [String] { root == folder ? [] : [enter(root)] }

    let build = "swift build"
    let test = "swift test"

    func call(_ layers: ManagerLayers, of manifest: String) -> String {
        let (method, input) = layers.firstCall
        let words = [manifest, layers.manager, method] + (input.map { [$0] } ?? [])
        return ([tool, "call"] + words).map(\.shellWord).joined(separator: " ")
    }

    /// Returns the command that adds a manager with its contracts in a library.
    func addManager(contracts: String) -> String {
        ([tool, "new", "manager", "NAME", "--contracts", contracts]).map(\.shellWord).joined(separator: " ")
    }

    func check(_ file: String) -> String { [tool, "check", file].map(\.shellWord).joined(separator: " ") }

    var dev: String { "\(tool.shellWord) dev" }

    func run(_ product: String) -> String { "swift run \(product.shellWord)" }
}

// The errors of `backplane new`.
extension BackplaneError.Code {
    static let newName = Self(rawValue: "new.name")
    /// A file, a target or a product of that name already exists.
    static let newExists = Self(rawValue: "new.exists")
    /// The package's tools version is too old for the new item.
    static let newTools = Self(rawValue: "new.tools")
    /// The templates of this command are missing.
    static let newTemplates = Self(rawValue: "new.templates")
    /// A file or a folder cannot be written.
    static let newUnwritable = Self(rawValue: "new.unwritable")
}
