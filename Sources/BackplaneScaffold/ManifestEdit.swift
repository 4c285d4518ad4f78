import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplanePackages
import FoundationEssentials

/// The manifest of a package that something new is put into: one that is there, or a new one.
struct ManifestEdit: Sendable, Hashable {
    /// From the top of the package.
    var path: String
    /// `nil`: it is not there yet.
    var text: String?

    static let usual = "backplane.json"

    /// The one for a plugin that is new: `backplane.json` at the top, or one of its own in the folder `manifests` where there is one.
    ///
    /// - Parameter given: a path of this process.
    static func forPlugin(_ name: NewName, given: String?, in package: PackageFolder) -> ManifestEdit {
        if let given { return ManifestEdit(package.path(of: given), in: package) }
        let hasFolder = package.contains("manifests") && !package.contains(usual)
        return ManifestEdit(hasFolder ? "manifests/\(name.kebab).json" : usual, in: package)
    }

    /// The one that names a library: `backplane.json` at the top, or the only one that does in the folder `manifests`.
    ///
    /// - Throws: `new.package` where several do, or none.
    static func naming(_ library: String, given: String?, in package: PackageFolder) throws(BackplaneError) -> ManifestEdit {
        if let given { return ManifestEdit(package.path(of: given), in: package) }
        if package.contains(usual) { return ManifestEdit(usual, in: package) }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: FilePath.join(package.root, "manifests"))) ?? []
        let found = names.filter { $0.hasSuffix(".json") }.sorted().map { ManifestEdit("manifests/\($0)", in: package) }.filter { $0.names(library) }
        guard found.count == 1 else {
            let state = found.isEmpty ? "no manifest at the top or in `manifests` names" : "\(Blueprint.list(found.map(\.path))) name"
            throw BackplaneError(.newPackage, "\(state) the library `\(library)`; say with --manifest PATH which is meant", at: package.root)
        }
        return found[0]
    }

    init(path: String, text: String?) {
        (self.path, self.text) = (path, text)
    }

    private init(_ path: String, in package: PackageFolder) {
        self.init(path: path, text: package.contents(of: path))
    }

    private func names(_ library: String) -> Bool {
        guard let text, case .dictionary(let root)? = try? ManifestValue(parsing: Data(text.utf8)), case .array(let plugins)? = root["plugins"] else { return false }
        return plugins.contains { if case .dictionary(let plugin) = $0 { plugin["library"] == .string(library) } else { false } }
    }

    /// Puts a library and a manager into it.
    ///
    /// - Throws: what is wrong with the manifest that is there; nothing of it is changed then.
    func add(_ layers: ManagerLayers, library: String, to blueprint: inout Blueprint) throws(BackplaneError) {
        layers.addSample(to: &blueprint, besideManifest: path)
        guard let text else { return blueprint.add(path, layers.manifestText(library: library)) }
        do throws(BackplaneError) {
            let edited = try EntryText.add(library: library, managers: [layers.manager: layers.definition], to: Data(text.utf8))
            blueprint.change(path, from: text, to: String(decoding: edited, as: UTF8.self))
        } catch {
            throw BackplaneError(error.code, error.message, at: error.location.map { "\(path): \($0)" } ?? path, causes: error.causes)
        }
    }
}
