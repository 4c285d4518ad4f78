import Backplane
import BackplaneHost

// The folders of existing and new targets.
extension PackageFolder {
    /// Returns the folder of a target, relative to the root of the package.
    func folder(of target: PackageFacts.PackageTarget) -> String { facts.folder(of: target, in: root) }

    /// Returns the folders and targets for a new plugin, in the style of the package's other plugins.
    func places(for name: String) -> PluginPlaces {
        let hasPlugins = facts.targets.contains { $0.path?.hasPrefix("Plugins/") == true }
        return PluginPlaces(
            name: name, sourceHolder: hasPlugins ? "Plugins" : facts.newHolder(of: .source, in: root),
            testHolder: facts.newHolder(of: .test, in: root))
    }

    /// Checks that no existing target occupies the folder of a new one.
    ///
    /// - Throws: `new.package`.
    func requireRoom(for targets: [TargetText]) throws(BackplaneError) {
        for target in targets {
            let kind: PackageFacts.PackageTarget.Kind = target.kind == .testTarget ? .test : .source
            let folder = target.path ?? "\(facts.newHolder(of: kind, in: root))/\(target.name)"
            guard let owner = facts.targets.first(where: { isInTheWay($0, of: kind, in: folder) }) else { continue }
            let own = "\(facts.holder(of: owner.kind, in: root))/\(owner.name)",
                path = owner.path == nil ? "" : ", without `path:`"
            throw BackplaneError(
                .newPackage,
                "the target `\(owner.name)` occupies all of `\(self.folder(of: owner))`, which leaves no room for `\(target.name)`; move its files into `\(own)`\(path), and run the command again",
                at: root)
        }
    }

    private func isInTheWay(
        _ target: PackageFacts.PackageTarget, of kind: PackageFacts.PackageTarget.Kind, in folder: String
    ) -> Bool {
        let own = self.folder(of: target)
        // Without `path:`, only the sole target of its kind can occupy the whole folder.
        guard target.path != nil else { return target.kind == kind && own == facts.holder(of: kind, in: root) }
        guard target.sources == nil, target.exclude?.isEmpty != false else { return false }
        return own == "." || folder.hasPrefix(own.hasSuffix("/") ? own : own + "/")
    }
}
