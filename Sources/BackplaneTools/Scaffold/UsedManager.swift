import Backplane
import BackplaneDocuments
import BackplaneHost
import FoundationEssentials

/// A manager of the manifest that a new manager uses.
struct UsedManager: Sendable, Hashable {
    /// The label of the wire.
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
        // Any other text from the manifest would be a pattern of its own.
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
