import Backplane
import BackplaneDocuments
import BackplaneHost

extension PackageFolder {
    /// Returns the dependency on Backplane to add, or `nil` if the package already has it.
    ///
    /// - Throws: `new.tools` if the package's tools version is too old for it.
    func missingBackplane(_ backplane: () throws(BackplaneError) -> BackplanePackage) throws(BackplaneError)
        -> BackplanePackage?
    {
        guard self.backplane == nil else { return nil }
        try requireTools()
        return try backplane()
    }

    /// Checks that the package's tools version supports `traits:`, which the new dependency uses.
    private func requireTools() throws(BackplaneError) {
        let found = facts.toolsVersion
        guard found < Self.tools else { return }
        let language =
            found.major < Self.tools.major
            ? "; `swiftLanguageModes: [.v5]` after its targets keeps them in Swift 5" : ""
        throw BackplaneError(
            .newTools,
            "expected the tools version 6.1 or later, which a dependency on Backplane without its traits requires, "
                + "found \(found.major).\(found.minor); start the file with `// swift-tools-version: 6.1`, and run "
                + "the command again\(language)",
            at: FilePath.join(root, "Package.swift"))
    }

    private static let tools = Version(6, 1)

    /// Returns the target of contracts with a name; `Harbour` and `HarbourContracts` both refer to `HarbourContracts`.
    ///
    /// - Throws: `new.package` if there is none.
    func contractsTarget(_ name: String) throws(BackplaneError) -> PackageFacts.PackageTarget {
        let found = [name + "Contracts", name].lazy.compactMap { facts.target($0) }
            .first { $0.type == "regular" && !belongsToPlugin($0) }
        guard let found else {
            let names = facts.targets.filter { $0.type == "regular" }.map(\.name)
            let base = name.hasSuffix("Contracts") ? String(name.dropLast("Contracts".count)) : name
            let question = NameSuggestions(for: base + "Contracts", among: names).question.map { "; \($0)" } ?? ""
            throw BackplaneError(
                .newPackage,
                "the package has no library of contracts `\(base)Contracts`\(question); `backplane new contracts \(base)` creates it",
                at: root)
        }
        return found
    }

    /// Returns whether a target is a plugin, which no other plugin can import.
    private func belongsToPlugin(_ target: PackageFacts.PackageTarget) -> Bool {
        sources(in: folder(of: target)).contains { contents(of: $0).flatMap(PluginModule.pluginType) != nil }
    }
}
