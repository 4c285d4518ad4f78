import Backplane
import BackplaneHost
import Foundation
import Glibc

/// The libraries of a session: the files as last seen, and the application's responses to them.
struct DevLibraries: Sendable {
    private var seen: [String: ProductStamp] = [:]
    /// The files of the last swap request, as last seen before it.
    private var asked: [String: ProductStamp] = [:]
    /// The libraries that the application has refused, or that the user has taken back.
    private var inactive: Set<String> = []
    /// The duration of each library's last build in this session, in seconds.
    private var builtIn: [String: Double] = [:]
    /// The libraries that are not reported if they are unchanged.
    ///
    /// They come with a manifest, or were seen before their build ended.
    private var unremarkable: Set<String> = []
    private var isAskedAgain = false

    /// Returns whether a complete library differs from its last known version, and remembers the library.
    mutating func isNew(_ path: String, _ stamp: ProductStamp) -> Bool {
        guard stamp.library != nil, stamp != seen[path], !ProductStamp.isBeingWritten(path) else { return false }
        seen[path] = stamp
        return true
    }

    func isKnown(_ path: String) -> Bool { seen[path] != nil }

    mutating func remember(_ path: String, _ stamp: ProductStamp) { seen[path] = stamp }

    mutating func wasBuilt(_ path: String, in seconds: Double) { builtIn[path] = seconds }

    mutating func expect(_ paths: some Sequence<String>) { unremarkable.formUnion(paths) }

    mutating func areAsked(_ paths: [String]) {
        isAskedAgain = unremarkable.isSuperset(of: paths)
        unremarkable.subtract(paths)
        for path in paths { asked[path] = seen[path] }
    }

    /// Marks libraries as active.
    ///
    /// - Returns: The build time of each, and whether to report them if they are unchanged.
    mutating func areTaken(_ paths: [String]) -> (builtIn: [String: Double], isNews: Bool) {
        inactive.subtract(paths)
        var times: [String: Double] = [:]
        for path in paths { times[path] = builtIn.removeValue(forKey: path) }
        return (times, !isAskedAgain)
    }

    /// Marks libraries as swapped in.
    ///
    /// If a library was replaced before the host loaded it, the new file is already active when the loop learns of the
    /// change. The file is then not reported, even if the change was detected before the host's answer.
    mutating func areSwapped(_ paths: [String]) {
        unremarkable.formUnion(paths.filter { asked[$0]?.library != ProductStamp(library: $0).library })
    }

    mutating func areRefused(_ paths: [String]) {
        inactive.formUnion(paths)
        if isAskedAgain { unremarkable.formUnion(paths) }
    }

    /// Marks libraries as inactive, so that the next build is swapped in even if it is unchanged.
    mutating func areRolledBack(_ paths: [String]) {
        inactive.formUnion(paths)
        for path in paths { seen[path] = .unknown }
    }

    /// Treats libraries that were refused or taken back as new.
    ///
    /// - Returns: These libraries.
    mutating func tryAgain() -> Set<String> {
        for path in inactive { seen[path] = .unknown }
        return inactive
    }

    /// Drops the build times of the libraries that the manifest has loaded; refused libraries may now be accepted.
    mutating func areApplied() { builtIn = builtIn.filter { inactive.contains($0.key) } }

    /// Drops all build times, because another application has loaded the libraries.
    mutating func forgetTimes() { builtIn = [:] }
}

/// The file system's metadata for the files of a built plugin.
///
/// Equal stamps mean that no file has been written in between.
struct ProductStamp: Sendable, Hashable {
    /// The metadata of the library, or `nil` if it does not exist.
    let library: FileStatus?
    private let resources: [String: FileStatus]

    init(library path: String, resources folders: [String] = []) {
        library = try? FileStatus(at: path)
        var files: [String: FileStatus] = [:]
        for folder in folders {
            for name in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
                let path = FilePath.join(folder, name)
                if let status = try? FileStatus(at: path), status.kind != .folder { files[path] = status }
            }
        }
        resources = files
    }

    static let unknown = ProductStamp()

    private init() { (library, resources) = (nil, [:]) }

    /// Returns whether a process has the file open for writing; closing it triggers another event.
    static func isBeingWritten(_ path: String) -> Bool {
        (try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK))?.isOpenForWriting == true
    }

    /// The time of the library's last modification, in seconds since 1970.
    var written: Double? {
        library.map { Double($0.modified.seconds) + Double($0.modified.nanoseconds) / 1e9 }
    }
}

/// The products that a manifest needs, and the library files to which it refers.
struct DevComposition: Sendable, Hashable {
    /// The products that the manifest names, or all products if it has no list of plugins.
    let products: [DevPackage.Product]
    /// The libraries that the manifest names but that no package of this session builds.
    let others: [String]
    /// The paths at which missing libraries of the manifest may appear.
    let missing: Set<String>
    /// The definition files that the manifest serves without code.
    let definitions: Set<ManifestDocument.DefinitionPlace>

    /// Creates the composition of a manifest and packages.
    ///
    /// - Parameter pluginPaths: The folders in which the host searches for libraries.
    init(_ document: ManifestDocument, _ packages: [DevPackage], pluginPaths: [String]) {
        definitions = document.definitionPlaces
        let all = packages.flatMap(\.products),
            folder = document.path.map { FilePath.folder(of: FilePath.absolute($0)) }
        guard let references = document.manifest.plugins else {
            products = all
            let found = (try? LibraryLocator.libraries(in: pluginPaths)) ?? []
            others = found.map(FilePath.absolute).filter { path in !all.contains { $0.library == path } }
            missing = []
            return
        }
        var products: [DevPackage.Product] = [], others: [String] = [], missing: Set<String> = []
        let locator = LibraryLocator(manifestFolder: folder, pluginPaths: pluginPaths)
        for library in references.map(\.library) {
            if let product = all.first(where: { $0.isNamed(library, from: folder) }) {
                if !products.contains(product) { products.append(product) }
            } else if let path = try? locator.locate(library) {
                others.append(FilePath.absolute(path))
            } else {
                missing.formUnion(((try? locator.candidates(library)) ?? []).map(FilePath.absolute))
            }
        }
        (self.products, self.others, self.missing) = (products, others, missing)
    }

    var libraries: Set<String> { Set(products.map(\.library) + others) }

    /// Returns the definitions to swap after files have changed.
    func definitions(changedBy paths: Set<String>) -> Set<String> {
        Set(definitions.filter { !$0.files.isDisjoint(with: paths) }.map(\.definition))
    }
}

extension DevPackage.Product {
    /// Returns whether a manifest in the given folder refers to this product.
    fileprivate func isNamed(_ library: String, from folder: String?) -> Bool {
        if library.contains("/") { return FilePath.absolute(FilePath.join(folder ?? ".", library)) == self.library }
        return library == name || library == FilePath.name(of: self.library)
    }
}
