import Backplane
import BackplaneHost

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
