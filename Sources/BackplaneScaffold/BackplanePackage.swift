import Backplane
import BackplaneHost
import BackplanePackages

/// The package Backplane as another package names it among its dependencies.
enum BackplanePackage: Sendable, Hashable {
    /// A checkout, by its absolute path.
    case folder(String)
    case url(String, from: String)

    /// As it is given on the command line.
    ///
    /// - Parameter given: a folder or a URL; `nil`: the package that this program was built from.
    /// - Throws: `new.package` where that is not there.
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
                    .newPackage, "expected a checkout of Backplane, found no `\(OwnPackage.mark)` there; --backplane takes its folder or its URL", at: folder)
            }
            self = .folder(folder)
        }
    }

    /// What its products are asked for by.
    var identity: String {
        switch self {
        case .folder: "backplane"
        case .url(let url, _):
            String(url.split(whereSeparator: { "/:".contains($0) }).last?.replacing(/\.git$/, with: "") ?? "backplane").lowercased()
        }
    }

    /// As `dependencies` has it. Without traits no other package is fetched.
    var dependency: String {
        switch self {
        case .folder(let path): ".package(name: \"backplane\", path: \(path.swiftLiteral), traits: [])"
        case .url(let url, let version): ".package(url: \(url.swiftLiteral), from: \(version.swiftLiteral), traits: [])"
        }
    }
}
