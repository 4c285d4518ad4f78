import Backplane
import BackplaneDocuments
import BackplaneHost
import FoundationEssentials

/// An edit that adds components to a manifest, which is created if it does not exist.
struct ManifestEdit: Sendable, Hashable {
    /// The path relative to the root of the package.
    var path: String
    /// The current text, or `nil` if the file does not exist.
    var text: String?

    static let usual = "backplane.json"

    /// Returns the manifest for a new plugin: `backplane.json`, or a new file in the folder `manifests` if it is used.
    ///
    /// - Parameter given: A path relative to the current folder, or `nil` for the default.
    static func forPlugin(_ name: NewName, given: String?, in package: PackageFolder) -> ManifestEdit {
        if let given { return ManifestEdit(package.path(of: given), in: package) }
        let hasFolder = package.contains("manifests") && !package.contains(usual)
        return ManifestEdit(hasFolder ? "manifests/\(name.kebab).json" : usual, in: package)
    }

    /// Returns the manifest that names a library: `backplane.json`, or the only such file in the folder `manifests`.
    ///
    /// - Parameter given: A path relative to the current folder, or `nil` for the default.
    /// - Throws: `new.package` if no manifest names the library, or several do.
    static func naming(_ library: String, given: String?, in package: PackageFolder) throws(BackplaneError)
        -> ManifestEdit
    {
        if let given { return ManifestEdit(package.path(of: given), in: package) }
        if package.contains(usual) { return ManifestEdit(usual, in: package) }
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: FilePath.join(package.root, "manifests"))) ?? []
        let found = names.filter { $0.hasSuffix(".json") }.sorted().map { ManifestEdit("manifests/\($0)", in: package) }
            .filter { $0.names(library) }
        guard found.count == 1 else {
            let state =
                found.isEmpty
                ? "no manifest at the top or in `manifests` names" : "\(Blueprint.list(found.map(\.path))) name"
            throw BackplaneError(
                .newPackage, "\(state) the library `\(library)`; choose one with --manifest PATH",
                at: package.root)
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
        guard let text, case .dictionary(let root)? = try? ManifestValue(parsing: Data(text.utf8)),
            case .array(let plugins)? = root["plugins"]
        else { return false }
        return plugins.contains { $0.library == .string(library) }
    }

    /// Adds a library and a manager to the manifest.
    ///
    /// - Throws: The error in the existing manifest, which then remains unchanged.
    func add(_ layers: ManagerLayers, library: String, to blueprint: inout Blueprint) throws(BackplaneError) {
        try layers.addSample(to: &blueprint, besideManifest: path)
        guard let text else { return blueprint.add(path, text: layers.manifestText(library: library)) }
        do throws(BackplaneError) {
            let edited = try ManifestText.add(
                library: library, managers: [layers.manager: layers.definition], to: Data(text.utf8))
            blueprint.change(path, from: text, to: String(decoding: edited, as: UTF8.self))
        } catch {
            throw BackplaneError(
                error.code, error.message, at: error.location.map { "\(path): \($0)" } ?? path, causes: error.causes)
        }
    }
}
