import Backplane
import BackplaneDocuments
import BackplaneHost
import FoundationEssentials

/// An existing package that a scaffold extends, as described by SwiftPM.
struct PackageFolder: Sendable {
    /// The absolute path of the package's root.
    let root: String
    let facts: PackageFacts
    /// The name of the manifest that SwiftPM reads: Package.swift, or one for its version, such as
    /// `Package@swift-6.swift`.
    let manifest: String

    /// Reads a package's description.
    ///
    /// - Parameter given: The folder of the package, or `nil` for the nearest package at or above the current folder.
    /// - Throws: `new.package` if there is no package, or it cannot be read.
    init(given: String?) throws(BackplaneError) {
        root = try Self.find(given)
        do throws(BackplaneError) { facts = try PackageFacts(of: root) } catch {
            throw error.adding("; fix it, and run the command again")
        }
        manifest = Self.manifest(in: root)
    }

    /// Returns the name of the manifest that SwiftPM reads.
    private static func manifest(in root: String) -> String {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).filter {
            $0.hasPrefix("Package@swift-") && $0.hasSuffix(".swift")
        }
        guard !names.isEmpty, let folder = try? TemporaryFolder(for: "new") else { return "Package.swift" }
        defer { folder.remove() }
        // With a mistake in each copy, the compiler names the one that SwiftPM has chosen.
        for name in names + ["Package.swift"] {
            guard let text = try? Data(contentsOf: URL(filePath: FilePath.join(root, name))) else { continue }
            try? (text + Data("\n)".utf8)).write(to: URL(filePath: FilePath.join(folder.path, name)))
        }
        do throws(BackplaneError) { _ = try PackageFacts(of: folder.path) } catch {
            return names.first { name in error.said.contains { $0.contains("/\(name):") } } ?? "Package.swift"
        }
        return "Package.swift"
    }

    private static func find(_ given: String?) throws(BackplaneError) -> String {
        func isPackage(_ folder: String) -> Bool {
            FileManager.default.fileExists(atPath: FilePath.join(folder, "Package.swift"))
        }
        if let given {
            let folder = FilePath.absolute(given)
            guard isPackage(folder) else {
                throw BackplaneError(.newPackage, "the folder has no Package.swift", at: folder)
            }
            return folder
        }
        let current = FilePath.absolute(".")
        guard let found = OwnPackage.folders(above: current).first(where: isPackage) else {
            throw BackplaneError(
                .newPackage,
                "there is no Package.swift in this folder or above it; `backplane new package NAME` creates a package, and --package PATH chooses one",
                at: current)
        }
        return found
    }

    /// Returns the text of a file, or `nil` if it does not exist or is not UTF-8.
    func contents(of path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: FilePath.join(root, path)))).flatMap {
            String(validating: $0, as: UTF8.self)
        }
    }

    /// Returns whether SwiftPM can read a Package.swift, and its description differs from the package's current one.
    func accepts(_ manifest: String) -> Bool {
        guard let folder = try? TemporaryFolder(for: "new") else { return false }
        defer { folder.remove() }
        let file = URL(filePath: FilePath.join(folder.path, "Package.swift"))
        guard (try? Data(manifest.utf8).write(to: file)) != nil else { return false }
        return (try? PackageFacts(of: folder.path)).map { $0 != facts } ?? false
    }

    func contains(_ path: String) -> Bool { (try? FileStatus(at: FilePath.join(root, path))) != nil }

    /// Returns the Swift files below a folder, sorted by path.
    func sources(in folder: String) -> [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: FilePath.join(root, folder))) ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
    }

    /// Converts a path relative to the current folder to one relative to the root of the package.
    func path(of given: String) -> String {
        let path = FilePath.absolute(given).split(separator: "/"), root = root.split(separator: "/")
        let shared = zip(path, root).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: root.count - shared) + path.dropFirst(shared)).joined(separator: "/")
    }

    /// The form in which targets name the products of Backplane, or `nil` if the package does not depend on it.
    var backplane: BackplaneProducts? {
        if facts.target("CBackplane") != nil { return .own }
        return facts.targets.flatMap(\.dependencies).first { $0.name == "Backplane" && $0.package != nil }?.package.map
        { .package($0) }
    }
}

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

extension PackageFolder {
    /// Returns the dependency on Backplane to add, or `nil` if the package already has it.
    ///
    /// - Throws: `new.tools` if the package's tools version is too old for the dependency.
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
            at: FilePath.join(root, manifest))
    }

    private static let tools = Version(6, 1)

    /// Returns the target of contracts with a name; `Harbour` and `HarbourContracts` both refer to `HarbourContracts`.
    ///
    /// - Parameter name: The name, or `nil` for none.
    /// - Throws: `new.package` if there is none of that name.
    func contractsTarget(_ name: String?) throws(BackplaneError) -> PackageFacts.PackageTarget? {
        guard let name else { return nil }
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

    /// Returns whether a target is a plugin, which other plugins cannot import.
    private func belongsToPlugin(_ target: PackageFacts.PackageTarget) -> Bool {
        sources(in: folder(of: target)).contains { contents(of: $0).flatMap(PluginModule.pluginType) != nil }
    }
}

/// The form in which a package's targets name the products of Backplane.
enum BackplaneProducts: Sendable, Hashable {
    /// The targets are in the Backplane package itself.
    case own
    /// The package depends on the package with this identity.
    case package(String)

    func dependencies(on products: [String]) -> [String] {
        products.map { product in
            switch self {
            case .own: TargetText.name(product)
            case .package(let identity): TargetText.product(product, of: identity)
            }
        }
    }
}

/// The dependency on Backplane in the manifest of another package.
enum BackplanePackage: Sendable, Hashable {
    /// A checkout, by its absolute path.
    case folder(String)
    case url(String, from: String)

    /// Creates the dependency from a command-line argument.
    ///
    /// - Parameters:
    ///   - given: A folder or a URL, or `nil` for the package from which this program was built.
    ///   - own: A function that returns the path of that package.
    /// - Throws: `new.package` if there is no checkout of Backplane.
    init(given: String?, own: () throws(BackplaneError) -> String = OwnPackage.path) throws(BackplaneError) {
        guard let given else {
            self = .folder(try own())
            return
        }
        if given.contains("://") || given.hasPrefix("git@") {
            self = .url(given, from: HostVersion.text)
        } else {
            let folder = FilePath.absolute(given)
            guard OwnPackage.isBackplane(folder) else {
                throw BackplaneError(
                    .newPackage,
                    "expected a checkout of Backplane, found no `\(OwnPackage.mark)` there; --backplane expects its "
                        + "folder or its URL",
                    at: folder)
            }
            self = .folder(folder)
        }
    }

    /// The package identity to which product dependencies refer.
    var identity: String {
        switch self {
        case .folder: "backplane"
        case .url(let url, _):
            String(url.split(whereSeparator: { "/:".contains($0) }).last?.replacing(/\.git$/, with: "") ?? "backplane")
                .lowercased()
        }
    }

    /// The element of `dependencies`; it disables all traits, so that no engines are fetched.
    var dependency: String {
        switch self {
        case .folder(let path): ".package(name: \"backplane\", path: \(path.swiftLiteral), traits: [])"
        case .url(let url, let version): ".package(url: \(url.swiftLiteral), from: \(version.swiftLiteral), traits: [])"
        }
    }
}

/// The package from which this program was built.
enum OwnPackage {
    /// A file that distinguishes a checkout of Backplane from other packages.
    static let mark = "Sources/CBackplane/include/backplane.h"

    static func isBackplane(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: FilePath.join(folder, mark))
            && FileManager.default.fileExists(atPath: FilePath.join(folder, "Package.swift"))
    }

    /// Returns the path of the package that contains the executable, or else the path recorded at build time.
    ///
    /// - Throws: `new.package` if it no longer exists.
    static func path() throws(BackplaneError) -> String {
        if let found = candidates.first { return found }
        throw BackplaneError(
            .newPackage,
            "the package that this command was built from no longer exists; specify the location of Backplane with "
                + "--backplane PATH or --backplane URL",
            at: built)
    }

    /// The checkouts of Backplane around the executable, nearest first, and the one recorded at build time.
    static var candidates: [String] {
        ((RunningExecutable.folder.map(folders(above:)) ?? []) + [built]).filter(isBackplane)
    }

    private static let built = FilePath.absolute(FilePath.join(FilePath.folder(of: #filePath), "../../.."))

    /// Returns the folder itself and all folders above it, nearest first.
    static func folders(above path: String) -> [String] {
        var folders = [path]
        while let last = folders.last, last != "/", last != "." { folders.append(FilePath.folder(of: last)) }
        return folders
    }
}
